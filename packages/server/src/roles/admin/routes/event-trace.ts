/** One event: what became of it, and what each step of processing changed. */
import { AnyObject, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { ApiError } from '../../../http/errors.ts';
import { explainEvent } from '../../../operations/explain-event.ts';
import { shownRejection } from '../../../operations/rejected-events.ts';
import { rerunEvent } from '../../../operations/rerun-event.ts';
import { hideSecrets } from '../../../snapshot/hide-secrets.ts';
import { integrationNames } from '../../../stores/config/integrations.ts';
import { findRejected } from '../../../stores/observe/dead-letters.ts';
import type { AdminApp, AdminContext } from '../deps.ts';

const tags = ['Events'];
export const SOURCES = ['browser', 'server', 'webhook'] as const;
/** Of an event in the list and by itself. */
export const SUMMARY = {
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
    ...SUMMARY,
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

export const RejectedEvent = named(
  'RejectedEvent',
  Type.Object({
    event_id: Type.String({ description: 'The messageId, else an id made for the rejection. Of a webhook, the id of its dead letter.' }),
    pipeline_id: Type.String(),
    status: Type.Literal('rejected'),
    reason: Type.String({ description: 'The error code of the reply; `webhook_rejected` of a webhook, which is answered 200.' }),
    message: Type.String({ description: 'What is wrong with the event.' }),
    received_at: Timestamp,
    raw: Type.Unknown({
      description:
        'The event as it came, under the privacy rules; text where it is not JSON, or holds a number that parsing would change. Of a webhook, its headers, query and body.',
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

export function eventTraceRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots, sandbox } = context.operations;

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
        response: { 200: Type.Union([Trace, RejectedEvent]) },
      },
    },
    async ({ params, query, user }) => {
      const trace = await explainEvent(
        { log, observe, snapshot: () => snapshots.current() },
        user.org_id,
        params.event_id,
        query.pipeline_id,
      );
      if (trace !== undefined) {
        const deleted = trace.deliveries.filter(({ name }) => name === null).map(({ integration_id }) => integration_id);
        const names = await integrationNames(context.db, user.org_id, deleted);
        const deliveries = trace.deliveries.map((each) => ({ ...each, ...names.get(each.integration_id) }));
        return hideSecrets(snapshots.current(), trace.pipeline_id, { ...trace, deliveries, event: asObject(trace.event) });
      }
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

/** Nothing is stored of an event whose trace is left out, so it cannot be told from one that never came. */
function missingTrace({ traceSample, traceSampleAbove }: AdminContext['settings']): string {
  if (traceSample === 1) return 'There is no such event, or it is no longer retained.';
  return `There is no trace of this event. It never arrived, is no longer retained, or its trace was left out: above ${traceSampleAbove} events a second ${traceSample * 100} % of the traces are kept (TRACE_SAMPLE). An event that was dropped or failed is always traced, so this one, if it arrived, was delivered or waits.`;
}

function asObject(event: unknown): JsonObject | null {
  return (event as JsonObject | null | undefined) ?? null;
}
