import { AnyObject, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { Type } from 'typebox';
import { ApiError, invalid } from '../../../http/errors.ts';
import { PageQuery, pageOf, TimeQuery } from '../../../http/schema.ts';
import { explainEvent, fatesOf, summary } from '../../../operations/explain-event.ts';
import { findCanonicals } from '../../../operations/find-events.ts';
import { waitingSince } from '../../../operations/health.ts';
import { shownRejection } from '../../../operations/rejected-events.ts';
import { rerunEvent } from '../../../operations/rerun-event.ts';
import { hideSecrets } from '../../../snapshot/hide-secrets.ts';
import { decodeInTurns, PAGE_BYTES } from '../../../stores/config/paging.ts';
import { findRejected, listDeadLetters } from '../../../stores/observe/dead-letters.ts';
import { listTraces } from '../../../stores/observe/list-traces.ts';
import { stepsOfEvents, type TraceCursor } from '../../../stores/observe/traces.ts';
import { definedOf } from '../defined.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { timeRange } from '../time-range.ts';

const tags = ['Events'];
const SOURCES = ['browser', 'server', 'webhook'] as const;
const Summary = {
  event_id: Type.String(),
  pipeline_id: Type.String(),
  type: Type.String(),
  original_type: Nullable(OneOf(['screen', 'alias'], { description: 'Where the event came as a screen or an alias.' })),
  event_name: Nullable(Type.String()),
  user_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
  received_at: Timestamp,
  processed_at: Timestamp,
  status: Type.String({ description: 'processed, dropped or dead_lettered.' }),
  reason: Nullable(Type.String()),
  source: Nullable(OneOf(SOURCES, { description: 'The kind of endpoint that took it. Null where it was not recorded.' })),
  webhook_source_id: Nullable(Type.String()),
  event: Nullable(AnyObject({ description: 'The canonical event, while it is retained and the event log can be read.' })),
};
const Listed = named(
  'EventSummary',
  Type.Object({
    ...Summary,
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
const RevisionNumber = Nullable(
  Type.Integer({
    description: 'The revision of the template that built the request or dropped the event. Null where it was not recorded.',
  }),
);
const ReceivedRequest = named(
  'ReceivedRequest',
  Type.Object(
    {
      source: OneOf(SOURCES, { description: 'The kind of endpoint that took it.' }),
      bytes: Type.Integer({ description: 'Size of the event as it came.' }),
      headers: Type.Record(Type.String(), Type.String(), {
        description:
          'Those that processing needs are kept: `user-agent` and `sec-gpc`. Others may hold credentials or personal data, and would be stored with every event.',
      }),
      cookies: Type.Array(Type.String(), { description: 'The names of the vendor cookies that came with it.' }),
      ip: Type.Optional(Type.String({ description: 'Browser endpoints only.' })),
      webhook_source_id: Type.Optional(Type.String()),
      replay_of: Type.Optional(Type.String({ description: 'The dead letter that was replayed.' })),
    },
    { description: 'What is kept of the request, while the event is retained; the privacy rules apply.' },
  ),
);
const Trace = named(
  'EventTrace',
  Type.Object({
    ...Summary,
    received: Type.Unknown({ description: 'What came in, while it is retained; the privacy rules apply to it as they do to the event.' }),
    request: Nullable(ReceivedRequest),
    log_available: Type.Boolean({
      description: 'False: the event log cannot be read now, so `received`, `request` and mostly `event` are null. The rest is complete.',
    }),
    steps: Type.Array(AnyObject({ description: 'Each step of its life: stage, time, and what it decided.' })),
    deliveries: Type.Array(
      Type.Object({
        integration_id: Type.String(),
        name: Nullable(Type.String()),
        vendor: Nullable(Type.String()),
        status: Type.String({
          description:
            'delivered, dropped, waiting, accepted_by_vendor, retrying, dead_lettered, not_routed, or untraced where TRACE_SAMPLE left the trace out.',
        }),
        reason: Nullable(Type.String()),
        explanation: Type.String(),
        revision_number: RevisionNumber,
        attempts: Type.Array(
          Type.Object({
            at: Timestamp,
            status: Nullable(Type.Integer()),
            error: Nullable(Type.String()),
            duration_ms: Nullable(Type.Number()),
            revision_number: RevisionNumber,
            answer: Nullable(
              Type.String({
                description:
                  'The beginning of the vendor’s answer to a success. Kept for about one request a second and integration, of at most 10 events.',
              }),
            ),
          }),
        ),
      }),
    ),
  }),
);

const Rejected = named(
  'RejectedEvent',
  Type.Object({
    event_id: Type.String({ description: 'The messageId, else an id made for the rejection.' }),
    pipeline_id: Type.String(),
    status: Type.Literal('rejected'),
    reason: Type.String({ description: 'The error code of the reply.' }),
    message: Type.String({ description: 'What is wrong with the event.' }),
    received_at: Timestamp,
    raw: Type.Unknown({
      description: 'The event as it came, under the privacy rules; text where it is not JSON, or holds a number that parsing would change.',
    }),
    truncated: Type.Boolean({ description: 'Only part of it was kept, at most 64 KB.' }),
    sender: Type.Optional(
      Type.Object(
        {
          origin: Type.Optional(Type.String()),
          address: Type.Optional(Type.String({ description: 'Server pipelines only.' })),
          signature: Type.Optional(OneOf(['valid', 'invalid'], { description: 'Server pipelines only.' })),
        },
        { description: 'Only where the event was rejected for its sender: disabled pipeline, origin, address or signature.' },
      ),
    ),
    dead_letter_id: Type.String({ description: 'For `POST /dlq/{id}/replay`, where it can be corrected.' }),
  }),
);
const Changes = named(
  'EventChanges',
  Type.Object({
    unavailable: Nullable(
      OneOf(['not_retained', 'log_unavailable', 'too_large'], {
        description:
          'Why there are no steps: the event as received is no longer retained, cannot be read now, is larger than 64 KB, or grows above 256 KB in a step or 4 MB in all of them together.',
      }),
    ),
    same: Type.Boolean({
      description: 'The event came out as it was stored, by the same decisions. False: the configuration was changed since.',
    }),
    steps: Type.Array(
      Type.Object({
        step: Type.String(),
        result: Type.String(),
        changes: Type.Array(
          Type.Object({
            path: Type.String(),
            before: Type.Optional(Type.Unknown({ description: 'Absent where the step added it.' })),
            after: Type.Optional(Type.Unknown({ description: 'Absent where the step removed it.' })),
            hidden: Type.Optional(Type.Literal(true, { description: 'A privacy rule changed it: the value before is not shown.' })),
          }),
          { description: 'At most 100. A value of more than 1,000 characters is the beginning of its JSON text.' },
        ),
      }),
    ),
  }),
);
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
/** Results that are a state and not something that happened at a time. */
const NO_OUTCOME: readonly unknown[] = ['waiting', 'not_delivered'];

export function eventRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots, sandbox } = context.operations;
  const assigned = (pipelineId: string) =>
    (snapshots.current().pipelines.get(pipelineId)?.integrations ?? []).map(({ integration }) => ({
      id: integration.id,
      since: Date.parse(integration.created_at),
    }));
  /** Bounds the search for events that wait: none older than the backlog does. */
  const waitingBound = async (wanted: { org_id: string; pipeline_id?: string; integration_id?: string }) => {
    const integrations = [...snapshots.current().integrations.values()].map((compiled) => compiled.integration);
    const asked = integrations.filter(
      (each) =>
        each.org_id === wanted.org_id &&
        (wanted.integration_id ?? each.id) === each.id &&
        (wanted.pipeline_id ?? each.pipeline_id) === each.pipeline_id,
    );
    const since = await waitingSince(log, asked);
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
                'The result at the integration `integration_id`, or at any of them. `not_delivered` is every result but `delivered`. `dropped` includes events that were dropped before routing; for an integration since it was added. `waiting`: not tried yet, to be tried again, or accepted by the vendor without a result. `failed`: at least one attempt failed, also where a later one succeeded.',
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
                '`rejected`: events that ingest rejected for their content, in pages by `offset`. `event`, `integration_id`, `delivery`, `source`, `webhook_source_id`, `plan_violation`, `outcome_from`, `outcome_to` and `cursor` cannot be combined with it (422).',
            }),
          ),
          ...PageQuery,
        }),
        response: {
          200: Type.Object({
            events: Type.Array(Type.Union([Listed, Rejected])),
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
          stage: 'ingest' as const,
          status: 'pending' as const,
          ...definedOf({ pipeline_id, user_id, anonymous_id, reason }),
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
      const filter = {
        ...definedOf({ pipeline_id, event, user_id, anonymous_id, reason, integration_id, delivery, status, source, webhook_source_id }),
        ...(query.plan_violation === true && { plan_violation: true }),
        ...timeRange(query),
        ...definedOf({ outcome }),
        ...(cursor === undefined ? {} : { after: cursorOf(cursor) }),
        ...(delivery === 'waiting' && (await waitingBound({ org_id: user.org_id, ...definedOf({ pipeline_id, integration_id }) }))),
      };
      const { rows, total, atLeast, next, outcomes } = await listTraces(observe, { org_id: user.org_id, ...filter, assigned, ...page });
      const canonical = await findCanonicals(log, rows, PAGE_BYTES);
      // The page ends where its events are too large together; the cursor continues after the last one shown.
      const listed = rows.slice(0, canonical.length);
      const last = listed.length < rows.length ? listed.at(-1) : undefined;
      const steps = Map.groupBy(await stepsOfEvents(observe, user.org_id, listed), keyOf);
      const entries = [...listed.entries()];
      const events = await decodeInTurns(entries, ([at, row]) =>
        hideSecrets(snapshots.current(), row.pipeline_id, {
          ...summary(row),
          event: asObject(canonical[at]),
          deliveries: fatesOf(snapshots.current(), row, steps.get(keyOf(row)) ?? []).map(
            ({ integration_id: id, status: fate, reason: why }) => ({ integration_id: id, status: fate, reason: why }),
          ),
        }),
      );
      const counted = total === undefined ? {} : { total, total_is_estimate: atLeast, ...definedOf({ outcomes }) };
      return { events, ...counted, ...page, next_cursor: textOf(last ?? next) };
    },
  );

  app.get(
    '/events/:event_id',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Explain an event',
        description:
          'What came in, each processing decision, each delivery attempt, and for each integration one word and one sentence of what became of it. With TRACE_SAMPLE below 1, the trace of a delivered event may be left out: the 404 says so.',
        tags,
        params: Type.Object({ event_id: Type.String() }),
        querystring: Type.Object({ pipeline_id: Type.Optional(Type.String()) }),
        response: { 200: Type.Union([Trace, Rejected]) },
      },
    },
    async ({ params, query, user }) => {
      const trace = await explainEvent(
        { log, observe, snapshot: () => snapshots.current() },
        user.org_id,
        params.event_id,
        query.pipeline_id,
      );
      if (trace !== undefined) return hideSecrets(snapshots.current(), trace.pipeline_id, { ...trace, event: asObject(trace.event) });
      // If an event was first rejected and later accepted, show the accepted one.
      const rejected = await findRejected(observe, user.org_id, params.event_id, context.clock.now(), query.pipeline_id);
      if (rejected !== undefined) return shownRejection(rejected, snapshots.current());
      throw new ApiError('NOT_FOUND', { message: missingTrace(context.settings) });
    },
  );

  app.get(
    '/events/:event_id/changes',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Show what each step changed',
        description:
          'Runs the event as received through processing again, with the configuration of now, and compares it after each step. Code runs in the sandbox; nothing is stored or sent. What session, identity and memory added is taken from the stored event, because they depend on what was known of the visitor then. Values from before the privacy rules are shown as the rules leave them.',
        tags,
        params: Type.Object({ event_id: Type.String() }),
        querystring: Type.Object({ pipeline_id: Type.Optional(Type.String()) }),
        response: { 200: Changes },
      },
    },
    async ({ params, query, user }) => {
      const deps = { log, observe, sandbox, snapshot: () => snapshots.current() };
      const found = await rerunEvent(deps, user.org_id, params.event_id, query.pipeline_id);
      if (found === undefined) throw new ApiError('NOT_FOUND', { message: missingTrace(context.settings) });
      const { pipeline_id, ...changes } = found;
      return hideSecrets(snapshots.current(), pipeline_id, changes);
    },
  );
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

/** Nothing is stored of an event whose trace is left out, so it cannot be told from one that never came. */
function missingTrace({ traceSample, traceSampleAbove }: AdminContext['settings']): string {
  if (traceSample === 1) return 'There is no such event, or it is no longer retained.';
  return `There is no trace of this event. It never arrived, is no longer retained, or its trace was left out: above ${traceSampleAbove} events a second ${traceSample * 100} % of the traces are kept (TRACE_SAMPLE). An event that was dropped or failed is always traced, so this one, if it arrived, was delivered or waits.`;
}

function asObject(event: unknown): JsonObject | null {
  return (event as JsonObject | null | undefined) ?? null;
}
const keyOf = ({ pipeline_id, event_id }: { pipeline_id: string; event_id: string }) => `${pipeline_id} ${event_id}`;

/** Base64url of `received_at event_id`; callers treat it as opaque. */
function textOf(cursor: TraceCursor | undefined): string | null {
  if (cursor === undefined) return null;
  const { received_at, event_id } = cursor;
  return Buffer.from(`${received_at} ${event_id}`).toString('base64url');
}
function cursorOf(text: string): TraceCursor {
  const [, at, event_id] = /^(\d{1,15}) (.+)$/s.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (at === undefined || event_id === undefined) throw invalid('cursor', 'is not the `next_cursor` of a page');
  return { received_at: Number(at), event_id };
}
