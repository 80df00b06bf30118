import { AnyObject, Nullable, named, Timestamp } from '@firsthand/core/config/schema.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { Type } from 'typebox';
import { ApiError } from '../../../http/errors.ts';
import { ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { explainEvent, summary } from '../../../operations/explain-event.ts';
import { findCanonical } from '../../../operations/find-events.ts';
import { listTraces } from '../../../stores/observe/traces.ts';
import type { AdminApp, AdminContext } from '../deps.ts';

const tags = ['Events'];
const Summary = {
  event_id: Type.String(),
  pipeline_id: Type.String(),
  type: Type.String(),
  event_name: Nullable(Type.String()),
  user_id: Nullable(Type.String()),
  anonymous_id: Nullable(Type.String()),
  received_at: Timestamp,
  processed_at: Timestamp,
  status: Type.String({ description: 'processed, dropped or dead_lettered.' }),
  reason: Nullable(Type.String()),
  event: Nullable(AnyObject({ description: 'The canonical event, while it is retained.' })),
};
const Trace = named(
  'EventTrace',
  Type.Object({
    ...Summary,
    received: Type.Unknown({ description: 'What came in, while it is retained; the privacy rules apply to it as they do to the event.' }),
    steps: Type.Array(AnyObject({ description: 'Each step of its life: stage, time, and what it decided.' })),
    deliveries: Type.Array(
      Type.Object({
        integration_id: Type.String(),
        name: Nullable(Type.String()),
        vendor: Nullable(Type.String()),
        status: Type.String({ description: 'delivered, dropped, waiting, accepted_by_vendor, retrying, dead_lettered or not_routed.' }),
        reason: Nullable(Type.String()),
        explanation: Type.String(),
        attempts: Type.Array(
          Type.Object({
            at: Timestamp,
            status: Nullable(Type.Integer()),
            error: Nullable(Type.String()),
            duration_ms: Nullable(Type.Number()),
          }),
        ),
      }),
    ),
  }),
);

export function eventRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots } = context.operations;

  app.get(
    '/events',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List events',
        description: 'The retained ones, newest first.',
        tags,
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String()),
          event: Type.Optional(Type.String({ description: 'A track name, or @page, @identify, @group.' })),
          user_id: Type.Optional(Type.String()),
          ...PageQuery,
        }),
        response: { 200: ListOf('events', named('EventSummary', Type.Object(Summary))) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { pipeline_id, event, user_id } = query;
      const filter = {
        ...(pipeline_id === undefined ? {} : { pipeline_id }),
        ...(event === undefined ? {} : { event }),
        ...(user_id === undefined ? {} : { user_id }),
      };
      const { rows, total } = await listTraces(observe, { org_id: user.org_id, ...filter, ...page });
      const events = await Promise.all(rows.map(async (row) => ({ ...summary(row), event: asObject(await findCanonical(log, row)) })));
      return { events, total, ...page };
    },
  );

  app.get(
    '/events/:event_id',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Explain an event',
        description:
          'What came in, each processing decision, each delivery attempt, and for each integration one word and one sentence of what became of it.',
        tags,
        params: Type.Object({ event_id: Type.String() }),
        querystring: Type.Object({ pipeline_id: Type.Optional(Type.String()) }),
        response: { 200: Trace },
      },
    },
    async ({ params, query, user }) => {
      const trace = await explainEvent(
        { log, observe, snapshot: () => snapshots.current() },
        user.org_id,
        params.event_id,
        query.pipeline_id,
      );
      if (trace === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such event, or it is no longer retained.' });
      return { ...trace, event: asObject(trace.event) };
    },
  );
}

function asObject(event: unknown): JsonObject | null {
  return (event as JsonObject | null | undefined) ?? null;
}
