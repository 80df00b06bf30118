import { AnyObject, Body, Nullable } from '@firsthand/core/config/schema.ts';
import {
  Code,
  Rules,
  transformation as resource,
  type Transformation,
  type TransformationFields,
  TransformationKind,
} from '@firsthand/core/config/transformation.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { validateTransformation } from '@firsthand/core/process/compiled.ts';
import type { Static } from 'typebox';
import { ApiError, invalid, invalidFields, missing } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { type TransformationTrial, tryTransformation } from '../../../sandbox/trial-transformation.ts';
import type { Db } from '../../../stores/config/schema.ts';
import {
  countTransformations,
  deleteTransformation,
  findTransformation,
  insertTransformation,
  listTransformationIds,
  listTransformations,
  orderTransformations,
  updateTransformation,
} from '../../../stores/config/transformations.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Transformations'];
const Params = Type.Object({ id: Type.String(), transformation_id: Type.String() });
/** Bounds the cost of a pipeline's snapshot. */
const MOST = 100;

export function transformationRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;
  const { sandbox } = context.operations;

  app.get(
    '/pipelines/:id/transformations',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List transformations',
        description: 'In the order in which they run.',
        tags,
        params: IdParams,
        querystring: Type.Object(PageQuery),
        response: { 200: ListOf('transformations', resource.response) },
      },
    },
    async ({ params, query, user }) => {
      await requirePipeline(db, user.org_id, params.id);
      const page = pageOf(query);
      const { rows, total } = await listTransformations(db, user.org_id, params.id, page);
      return { transformations: rows, total, ...page };
    },
  );

  app.post(
    '/pipelines/:id/transformations',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Add a transformation',
        description: 'Without a position it runs after all existing transformations.',
        tags,
        params: IdParams,
        body: resource.create,
        response: { 201: resource.response },
      },
    },
    async ({ params, body, user }, reply) => {
      requireCode(body);
      const fields = { ...resource.defaults, ...body };
      await check(user.org_id, fields);
      const created = await context.write(user, 'transformation.created', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        if ((await countTransformations(tx, user.org_id, pipeline.id)) >= MOST)
          throw new ApiError('CONFLICT', { message: `A pipeline has at most ${MOST} transformations.` });
        const made = await insertTransformation(
          tx,
          { id: newId('trf', clock.now()), org_id: user.org_id, pipeline_id: pipeline.id },
          fields,
          change.stamp,
        );
        change.audit({ id: made.id, after: made });
        return made;
      });
      return reply.code(201).send(created);
    },
  );

  app.get(
    '/pipelines/:id/transformations/:transformation_id',
    {
      config: { role: 'viewer' },
      schema: { summary: 'Read a transformation', tags, params: Params, response: { 200: resource.response } },
    },
    async ({ params, user }) => require(db, user.org_id, params),
  );

  app.put(
    '/pipelines/:id/transformations/:transformation_id',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change a transformation',
        description: 'With `If-Match: <updated_at>` the change is rejected if somebody else changed the transformation in the meantime.',
        tags,
        params: Params,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: resource.update,
        response: { 200: resource.response },
      },
    },
    async ({ params, body, user, headers }) => {
      // Checked outside the transaction, because the sandbox is slow and a transaction blocks other writers.
      await check(user.org_id, { ...(await require(db, user.org_id, params)), ...body });
      const updated = await context.write(user, 'transformation.updated', async (tx, change) => {
        const before = await require(tx, user.org_id, params);
        requireUnchanged(headers['if-match'], before.updated_at, 'The transformation');
        const after = await updateTransformation(tx, before, body, change.stamp);
        change.audit({ id: before.id, before, after });
        return after;
      });
      return updated;
    },
  );

  app.delete(
    '/pipelines/:id/transformations/:transformation_id',
    {
      config: { role: 'admin' },
      schema: { summary: 'Remove a transformation', tags, params: Params, response: { 204: Type.Null({ description: 'No content.' }) } },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'transformation.deleted', async (tx, change) => {
        const before = await require(tx, user.org_id, params);
        await deleteTransformation(tx, user.org_id, before.id);
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );

  app.put(
    '/pipelines/:id/transformations/order',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Order the transformations',
        description:
          "`ids` names each of the pipeline's transformations once. Their positions become 1, 2, 3 and so on. Returns the first page of their list.",
        tags,
        params: IdParams,
        body: Body({ ids: Type.Array(Type.String(), { maxItems: MOST }) }, [], { examples: [{ ids: ['trf_01jv0g3m5w8k2d7c9q4r6t1x0z'] }] }),
        response: { 200: ListOf('transformations', resource.response) },
      },
    },
    async ({ params, body, user }) =>
      await context.write(user, 'transformation.reordered', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        const before = await listTransformationIds(tx, user.org_id, pipeline.id);
        if (body.ids.length !== before.length || new Set(body.ids).size !== before.length || !body.ids.every((id) => before.includes(id)))
          throw invalid('ids', "must name every one of the pipeline's transformations once");
        await orderTransformations(tx, user.org_id, body.ids, change.stamp);
        change.audit({ id: pipeline.id, before: { order: before }, after: { order: body.ids } });
        const page = pageOf({ limit: MOST });
        const { rows, total } = await listTransformations(tx, user.org_id, pipeline.id, page);
        return { transformations: rows, total, ...page };
      }),
  );

  app.post(
    '/transformations/test',
    {
      config: { role: 'editor', anyJson: true, unaudited: true },
      schema: {
        summary: 'Try a transformation',
        description: 'Runs it once on the event you send; nothing is stored.',
        tags,
        body: Body(
          {
            kind: TransformationKind,
            rules: Type.Optional(Rules),
            code: Type.Optional(Code),
            event: AnyObject(),
            parameters: Type.Optional(Type.Record(Type.String(), Type.String())),
          },
          [],
          {
            examples: [
              {
                kind: 'code',
                code: 'function transform(event) { return event }',
                event: { type: 'track', event: 'Order Completed', properties: { total: 42 } },
              },
            ],
          },
        ),
        response: {
          200: Type.Object({
            event: Nullable(AnyObject()),
            logs: Type.Array(Type.String()),
            error: Nullable(Type.String({ description: 'With the line where code failed.' })),
            duration_ms: Type.Number({ description: 'Time in the sandbox, including the wait for it.' }),
          }),
        },
      },
    },
    async ({ body, user }) => {
      requireCode(body);
      // Every canonical event has a context; a hand-written test event may lack one.
      const trial = { ...body, event: { context: {}, ...body.event } };
      const started = clock.monotonic();
      const { event, logs, error } = await tryTransformation(
        trial as unknown as TransformationTrial, // a transformation may be tried on an incomplete event
        sandbox,
        user.org_id,
      );
      return { event: event as never, logs, error, duration_ms: Math.round((clock.monotonic() - started) * 10) / 10 };
    },
  );

  async function check(orgId: string, fields: TransformationFields): Promise<void> {
    const faults = validateTransformation(fields);
    if (faults.length === 0 && fields.kind === 'code') faults.push(...(await sandbox.validateCode(fields.code, orgId)));
    if (faults.length > 0) throw invalidFields(faults);
  }
}

async function require(db: Db, orgId: string, params: Static<typeof Params>): Promise<Transformation> {
  await requirePipeline(db, orgId, params.id);
  const found = await findTransformation(db, orgId, params.id, params.transformation_id);
  if (found === undefined) throw new ApiError('NOT_FOUND', { message: 'The pipeline has no such transformation.' });
  return found;
}
function requireCode({ kind, code }: { kind: string; code?: string }): void {
  if (kind === 'code' && code === undefined) throw missing('code');
}
