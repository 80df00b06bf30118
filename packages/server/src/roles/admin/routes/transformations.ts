import type { Transformation } from '@firsthand/core/config/resources.ts';
import { validateTransformation } from '@firsthand/core/process/compiled.ts';
import { type Static, Type } from 'typebox';
import { ApiError, invalid, invalidFields, missing } from '../../../http/errors.ts';
import {
  AllOptional,
  AnyObject,
  Body,
  Id,
  IdParams,
  ListOf,
  Name,
  Nullable,
  OneOf,
  PageQuery,
  pageOf,
  Timestamp,
} from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { tryTransformation } from '../../../sandbox/trial-transformation.ts';
import type { Db } from '../../../stores/config/schema.ts';
import {
  deleteTransformation,
  findTransformation,
  insertTransformation,
  listTransformations,
  MAX_POSITION,
  orderTransformations,
  type TransformationFields,
  updateTransformation,
} from '../../../stores/config/transformations.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { EventFilterSchema } from '../integration-schema.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Transformations'];
const Kind = OneOf(['rules', 'code']);
const Rules = Type.Array(AnyObject(), {
  maxItems: 200,
  description: 'set, rename, delete, map, filter and compute, each with an optional condition.',
});
const Code = Type.String({ maxLength: 100_000, description: 'function transform(event, { parameters }) { return event }' });
const WRITABLE = {
  name: Name(),
  kind: Kind,
  rules: Rules,
  code: Code,
  event_filter: Nullable(EventFilterSchema),
  enabled: Type.Boolean(),
  position: Type.Integer({
    minimum: 0,
    maximum: MAX_POSITION,
    'x-fault': `must be a whole number from 0 to ${MAX_POSITION}`,
    description: 'They run from the lowest to the highest; of two with the same, the older one first.',
  }),
};
const TransformationSchema = Type.Object({
  id: Id('trf'),
  org_id: Id('org'),
  pipeline_id: Id('pl'),
  ...WRITABLE,
  created_at: Timestamp,
  updated_at: Timestamp,
});
const READ_ONLY = ['id', 'org_id', 'pipeline_id', 'created_at', 'updated_at'];
const { name: _name, kind: _kind, ...rest } = WRITABLE;
const Create = Body({ name: Name(), kind: Kind, ...AllOptional(rest) }, READ_ONLY, {
  examples: [{ name: 'Tidy up', kind: 'rules', rules: [{ type: 'delete', target: 'properties.internal_note' }] }],
});
const Update = Body(AllOptional(WRITABLE), READ_ONLY, { examples: [{ name: 'Tidy up more', enabled: false }] });
const Params = Type.Object({ id: Type.String(), transformation_id: Type.String() });
const NEW: Pick<TransformationFields, 'rules' | 'code' | 'event_filter' | 'enabled'> = {
  rules: [],
  code: '',
  event_filter: null,
  enabled: true,
};
/** A pipeline has a handful; the bound keeps one organisation from slowing its own snapshot to a crawl. */
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
        response: { 200: ListOf('transformations', TransformationSchema) },
      },
    },
    async ({ params, query, user }) => {
      await requirePipeline(db, user.org_id, params.id);
      const page = pageOf(query);
      const { rows, total } = await listTransformations(db, user.org_id, params.id, page);
      return { transformations: rows.map(shown), total, ...page };
    },
  );

  app.post(
    '/pipelines/:id/transformations',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Add a transformation',
        description: 'It runs after those that are there, unless a position says otherwise.',
        tags,
        params: IdParams,
        body: Create,
        response: { 201: TransformationSchema },
      },
    },
    async ({ params, body, user }, reply) => {
      requireCode(body);
      const fields = { ...NEW, ...body } as TransformationFields;
      await check(fields);
      const created = await context.write(user, 'transformation.created', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        if ((await listTransformations(tx, user.org_id, pipeline.id, { limit: 1, offset: 0 })).total >= MOST)
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
      return reply.code(201).send(shown(created));
    },
  );

  app.get(
    '/pipelines/:id/transformations/:transformation_id',
    {
      config: { role: 'viewer' },
      schema: { summary: 'Read a transformation', tags, params: Params, response: { 200: TransformationSchema } },
    },
    async ({ params, user }) => shown(await require(db, user.org_id, params)),
  );

  app.put(
    '/pipelines/:id/transformations/:transformation_id',
    {
      config: { role: 'editor' },
      schema: { summary: 'Change a transformation', tags, params: Params, body: Update, response: { 200: TransformationSchema } },
    },
    async ({ params, body, user }) => {
      // Checked outside the transaction: the sandbox takes its time, and writers stand in line.
      await check({ ...(await require(db, user.org_id, params)), ...body } as TransformationFields);
      const updated = await context.write(user, 'transformation.updated', async (tx, change) => {
        const before = await require(tx, user.org_id, params);
        const after = await updateTransformation(tx, before, body as Partial<TransformationFields>, change.stamp);
        change.audit({ id: before.id, before, after });
        return after;
      });
      return shown(updated);
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
        description: "Names every one of the pipeline's transformations once; their positions become 1, 2, 3 and so on.",
        tags,
        params: IdParams,
        body: Body({ ids: Type.Array(Type.String(), { maxItems: MOST }) }, [], { examples: [{ ids: ['trf_01jv0g3m5w8k2d7c9q4r6t1x0z'] }] }),
        response: { 200: Type.Object({ transformations: Type.Array(TransformationSchema) }) },
      },
    },
    async ({ params, body, user }) =>
      await context.write(user, 'transformation.reordered', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        const all = { limit: MOST, offset: 0 };
        const before = (await listTransformations(tx, user.org_id, pipeline.id, all)).rows.map(({ id }) => id);
        if (body.ids.length !== before.length || new Set(body.ids).size !== before.length || !body.ids.every((id) => before.includes(id)))
          throw invalid('ids', "must name every one of the pipeline's transformations once");
        await orderTransformations(tx, user.org_id, body.ids, change.stamp);
        change.audit({ id: pipeline.id, before: { order: before }, after: { order: body.ids } });
        return { transformations: (await listTransformations(tx, user.org_id, pipeline.id, all)).rows.map(shown) };
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
            kind: Kind,
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
        response: { 200: Type.Object({ event: Nullable(AnyObject()), logs: Type.Array(Type.String()), error: Nullable(Type.String()) }) },
      },
    },
    async ({ body }) => {
      requireCode(body);
      // Every canonical event has a context; somebody who tries out three lines of code may not have written one.
      const trial = { ...body, event: { context: {}, ...body.event } };
      const { event, logs, error } = await tryTransformation(trial as unknown as Parameters<typeof tryTransformation>[0], sandbox);
      return { event: event as never, logs, error };
    },
  );

  async function check(fields: TransformationFields): Promise<void> {
    const faults = validateTransformation(fields);
    if (faults.length === 0 && fields.kind === 'code') faults.push(...(await sandbox.validateCode(fields.code)));
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
function shown(transformation: Transformation) {
  return { ...transformation, rules: transformation.rules as never };
}
