import { Nullable, named, OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { WEBHOOK_REJECTED } from '@firsthand/core/outcome/outcome.ts';
import { invalid } from '../../../http/errors.ts';
import { PageQuery, pageOf, TimeQuery } from '../../../http/schema.ts';
import { fatesOf, summary } from '../../../operations/explain-event.ts';
import { findCanonicalJson } from '../../../operations/find-events.ts';
import { waitingSince } from '../../../operations/health.ts';
import { shownRejection } from '../../../operations/rejected-events.ts';
import { hideSecretsInJson } from '../../../snapshot/hide-secrets.ts';
import { decodeInTurns, PAGE_BYTES } from '../../../stores/config/paging.ts';
import { type DeadLetterFilter, listDeadLetters } from '../../../stores/observe/dead-letters.ts';
import { listTraces } from '../../../stores/observe/list-traces.ts';
import type { TraceCursor } from '../../../stores/observe/traces.ts';
import { definedOf } from '../defined.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { jsonBody } from '../serialise.ts';
import { timeRange } from '../time-range.ts';
import { RejectedEvent, SOURCES, SUMMARY } from './event-trace.ts';

const tags = ['Events'];
const Listed = named(
  'EventSummary',
  Type.Object({
    ...SUMMARY,
    deliveries: Type.Array(
      Type.Object(
        { integration_id: Type.String(), status: Type.String(), reason: Nullable(Type.String()) },
        { description: 'The result per integration, as in the explanation of the event.' },
      ),
    ),
  }),
);
const DELIVERIES = [
  'delivered',
  'not_delivered',
  'dropped',
  'waiting',
  'retrying',
  'accepted_by_vendor',
  'dead_lettered',
  'failed',
] as const;
const STATUSES = ['processed', 'dropped', 'dead_lettered', 'rejected'] as const;
/** A rejected event is stored as the client sent it: it has no parsed name, no integration, no source and no cursor. */
const NOT_FOR_REJECTED = [
  'event',
  'integration_id',
  'delivery',
  'source',
  'webhook_source_id',
  'plan_violation',
  'outcome_from',
  'outcome_to',
  'cursor',
] as const;
/** Results that an event may also have before routing. */
const ENDS: readonly unknown[] = ['dropped', 'dead_lettered', 'not_delivered'];
/** Results that are a state and not something that happened at a time. */
const NO_OUTCOME: readonly unknown[] = ['waiting', 'not_delivered'];
const NULL = Buffer.from('null');
const COMMA = Buffer.from(',');

export function eventRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots } = context.operations;
  type Asked = { org_id: string; pipeline_id?: string; integration_id?: string };
  const integrationsOf = (asked: Asked) =>
    [...snapshots.current().integrations.values()]
      .map(({ integration }) => integration)
      .filter(
        (each) =>
          each.org_id === asked.org_id &&
          (asked.integration_id ?? each.id) === each.id &&
          (asked.pipeline_id ?? each.pipeline_id) === each.pipeline_id,
      );
  const assignedTo = (asked: Asked) => {
    const integrations = integrationsOf(asked).map(({ id, pipeline_id, created_at }) => ({
      id,
      pipeline_id,
      since: Date.parse(created_at),
    }));
    return { assigned: Map.groupBy(integrations, ({ pipeline_id }) => pipeline_id) };
  };
  /** Bounds the search for events that wait: none older than the backlog does. */
  const waitingBound = async (asked: Asked) => {
    const since = await waitingSince(log, integrationsOf(asked));
    return since === Number.NEGATIVE_INFINITY ? {} : { processed_from: since };
  };

  app.get(
    '/events',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List events',
        description:
          'The retained ones, newest first. `next_cursor` leads to the next page: with it new events do not move the pages, and old pages are as quick as the first. Pages after a cursor have no `total`. The filters `event`, `status`, `reason`, `delivery`, `integration_id`, `source`, `webhook_source_id` and `plan_violation` search for up to a second: a page may have fewer events than `limit`, and its `next_cursor` continues the search. It is null at the end of the list. A page ends at 2 MB of events, with fewer than `limit`. Skipping very many events with `offset` can take too long (503).',
        tags,
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String()),
          event: Type.Optional(
            Type.String({ description: 'A track name, or @page (also screens), @identify (also aliases), @group, @screen, @alias.' }),
          ),
          user_id: Type.Optional(Type.String()),
          anonymous_id: Type.Optional(Type.String()),
          reason: Type.Optional(Type.String({ description: 'Exactly this reason, of the event or at an integration.' })),
          integration_id: Type.Optional(Type.String({ description: 'Events with a step at this integration; see also `delivery`.' })),
          delivery: Type.Optional(
            OneOf(DELIVERIES, {
              description:
                'The result at the integration `integration_id`, or at any of them. `not_delivered`: dropped, given up, or tried without success so far. `dropped`, `dead_lettered` and `not_delivered` include events that were dropped or failed before routing; for an integration since it was added. `waiting`: not tried yet, to be tried again, or accepted by the vendor without a result. `failed`: at least one attempt failed, also where a later one succeeded.',
            }),
          ),
          source: Type.Optional(
            OneOf(SOURCES, {
              description:
                'The kind of endpoint that took the event. Events of earlier versions, and those without a trace (TRACE_SAMPLE), have none.',
            }),
          ),
          webhook_source_id: Type.Optional(Type.String({ description: 'Events of this webhook source.' })),
          plan_violation: Type.Optional(
            Type.Boolean({ description: 'True: events that violated the tracking plan, whatever its `on_violation`.' }),
          ),
          from: Type.Optional(TimeQuery('Received at this moment or later.')),
          to: Type.Optional(TimeQuery('Received at this moment or earlier.')),
          outcome_from: Type.Optional(
            TimeQuery(
              'The outcome that `status`, `delivery` or `reason` asks for came at this moment or later, as the statistics count it; any such outcome, also where another one followed. Needs one of them, and not `delivery=waiting` or `not_delivered` (422). The response then has `outcomes`.',
            ),
          ),
          outcome_to: Type.Optional(TimeQuery('The same: at this moment or earlier.')),
          cursor: Type.Optional(
            Type.String({ maxLength: 1_000, description: 'The `next_cursor` of the page before; `offset` is ignored.' }),
          ),
          status: Type.Optional(
            OneOf(STATUSES, {
              description:
                '`rejected`: events that ingest rejected, and webhooks that it could not verify or map (reason `webhook_rejected`), in pages by `offset`. `event`, `integration_id`, `delivery`, `source`, `webhook_source_id`, `plan_violation`, `outcome_from`, `outcome_to` and `cursor` cannot be combined with it (422).',
            }),
          ),
          ...PageQuery,
        }),
        response: {
          200: Type.Object({
            events: Type.Array(Type.Union([Listed, RejectedEvent])),
            total: Type.Optional(Type.Integer({ description: 'Counting stops at 10,000, or when a search takes too long.' })),
            outcomes: Type.Optional(
              Type.Integer({
                description:
                  'With `outcome_from` or `outcome_to`: how many such outcomes the events of `total` have. An event that was delivered to two integrations has two. The statistics count these; `delivered` and `replayed` there are both `delivery=delivered` here.',
              }),
            ),
            total_is_estimate: Type.Optional(Type.Boolean({ description: 'There are more than `total`.' })),
            limit: Type.Integer(),
            offset: Type.Integer(),
            next_cursor: Nullable(Type.String()),
          }),
        },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { pipeline_id, event, user_id, anonymous_id, reason, integration_id, delivery, status, source, webhook_source_id, cursor } =
        query;
      if (status === 'rejected') {
        for (const name of NOT_FOR_REJECTED) if (query[name] !== undefined) throw invalid(name, 'cannot be combined with status=rejected');
        const which = {
          org_id: user.org_id,
          ...rejectedFor(reason),
          status: 'pending' as const,
          ...definedOf({ pipeline_id, user_id, anonymous_id }),
          ...timeRange(query),
        };
        const { letters, total } = await listDeadLetters(observe, which, page, context.clock.now());
        return {
          events: await decodeInTurns(letters, (letter) => shownRejection(letter, snapshots.current())),
          total,
          ...page,
          next_cursor: null,
        };
      }
      const outcome = outcomeOf(query);
      const asked = { org_id: user.org_id, ...definedOf({ pipeline_id, integration_id }) };
      const filter = {
        ...definedOf({ pipeline_id, event, user_id, anonymous_id, reason, integration_id, delivery, status, source, webhook_source_id }),
        ...(query.plan_violation === true && { plan_violation: true }),
        ...timeRange(query),
        ...definedOf({ outcome }),
        ...(cursor === undefined ? {} : { after: cursorOf(cursor) }),
        ...(delivery === 'waiting' && (await waitingBound(asked))),
        ...((delivery === 'waiting' || (integration_id !== undefined && ENDS.includes(delivery))) && assignedTo(asked)),
      };
      const { rows, steps, total, atLeast, next, outcomes } = await listTraces(observe, { org_id: user.org_id, ...filter, ...page });
      const canonical = await findCanonicalJson(log, rows, PAGE_BYTES);
      // The page ends where its events are too large together; the cursor continues after the last one shown.
      const listed = rows.slice(0, canonical.length);
      const last = listed.length < rows.length ? listed.at(-1) : undefined;
      const stepsOf = Map.groupBy(steps, keyOf);
      const events = await decodeInTurns([...listed.entries()], ([at, row]) => {
        const deliveries = fatesOf(snapshots.current(), row, stepsOf.get(keyOf(row)) ?? []).map(
          ({ integration_id: id, status: fate, reason: why }) => ({ integration_id: id, status: fate, reason: why }),
        );
        const before = Buffer.from(`${JSON.stringify(summary(row)).slice(0, -1)},"event":`);
        const after = Buffer.from(`,"deliveries":${JSON.stringify(deliveries)}}`);
        return hideSecretsInJson(snapshots.current(), row.pipeline_id, Buffer.concat([before, canonical[at] ?? NULL, after]));
      });
      const counted = total === undefined ? {} : { total, total_is_estimate: atLeast, ...definedOf({ outcomes }) };
      const rest = JSON.stringify({ ...counted, ...page, next_cursor: textOf(last ?? next) });
      const list = events.flatMap((event, at) => (at === 0 ? [event] : [COMMA, event]));
      return jsonBody(Buffer.concat([Buffer.from('{"events":['), ...list, Buffer.from(`],${rest.slice(1)}`)]));
    },
  );
}

/** The dead letter of a webhook has the whole sentence as its reason. */
function rejectedFor(reason: string | undefined): Pick<DeadLetterFilter, 'stages' | 'reason'> {
  if (reason === undefined) return { stages: ['ingest', 'webhook'] };
  return reason === WEBHOOK_REJECTED ? { stages: ['webhook'] } : { stages: ['ingest'], reason };
}

/** The time of the outcomes that are asked for. */
function outcomeOf({ outcome_from, outcome_to, status, reason, delivery }: Record<string, unknown>) {
  const [from, to] = [outcome_from, outcome_to] as (string | undefined)[];
  if (from === undefined && to === undefined) return undefined;
  if (NO_OUTCOME.includes(delivery)) throw invalid('delivery', `${delivery} is no outcome: it has no outcome_from and outcome_to`);
  if ([status, reason, delivery].every((each) => each === undefined))
    throw invalid('delivery', 'outcome_from and outcome_to need a status, a delivery or a reason');
  return timeRange({ from, to }, 'outcome_');
}

const keyOf = ({ pipeline_id, event_id }: { pipeline_id: string; event_id: string }) => `${pipeline_id} ${event_id}`;

/** Base64url of `received_at event_id`; callers treat it as opaque. */
function textOf(cursor: TraceCursor | undefined): string | null {
  if (cursor === undefined) return null;
  const { received_at, event_id } = cursor;
  return Buffer.from(`${received_at} ${event_id}`).toString('base64url');
}
function cursorOf(text: string): TraceCursor {
  const [, at, event_id] = /^(\d{1,15}) ([\x20-\x7e]{1,255})$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (at === undefined || event_id === undefined) throw invalid('cursor', 'is not the `next_cursor` of a page');
  return { received_at: Number(at), event_id };
}
