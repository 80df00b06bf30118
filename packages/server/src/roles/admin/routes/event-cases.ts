import { testCase as resource } from '@firsthand/core/config/event-case.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { countTestCases, deleteTestCase, findTestCase, insertTestCase, listTestCases } from '../../../stores/config/event-cases.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Test cases'];
const MAX_TEST_CASES = 1_000;

export function testCaseRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;

  app.get(
    '/test-cases',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List test cases',
        description: 'Newest first.',
        tags,
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String({ description: 'The test cases of this pipeline, and those of no pipeline.' })),
          ...PageQuery,
        }),
        response: { 200: ListOf('test_cases', resource.response) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { rows, total } = await listTestCases(db, user.org_id, query.pipeline_id, page);
      return { test_cases: rows, total, ...page };
    },
  );

  app.post(
    '/test-cases',
    {
      config: { role: 'editor', errors: ['CONFLICT', 'NOT_FOUND'] },
      schema: {
        summary: 'Save a test case',
        description: 'Keeps an event to try mappings and transformations on. It is never processed or delivered.',
        tags,
        body: resource.create,
        response: { 201: resource.response },
      },
    },
    async ({ body, user }, reply) => {
      const created = await context.write(user, 'test_case.created', async (tx, change) => {
        if (body.pipeline_id !== undefined && body.pipeline_id !== null) await requirePipeline(tx, user.org_id, body.pipeline_id);
        if ((await countTestCases(tx, user.org_id)) >= MAX_TEST_CASES)
          throw new ApiError('CONFLICT', { message: `An organisation has at most ${MAX_TEST_CASES} test cases: delete some first.` });
        const made = await insertTestCase(tx, {
          ...resource.defaults,
          ...body,
          id: newId('tc', clock.now()),
          org_id: user.org_id,
          created_by: user.id,
          created_at: change.stamp.now,
        });
        // The event may hold personal data, and the audit log is kept forever.
        change.audit({ id: made.id, after: { name: made.name, pipeline_id: made.pipeline_id } });
        return made;
      });
      return reply.code(201).send(created);
    },
  );

  app.get(
    '/test-cases/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read a test case', tags, params: IdParams, response: { 200: resource.response } } },
    async ({ params, user }) => found(await findTestCase(db, user.org_id, params.id)),
  );

  app.delete(
    '/test-cases/:id',
    {
      config: { role: 'admin' },
      schema: { summary: 'Delete a test case', tags, params: IdParams, response: { 204: Type.Null({ description: 'No content.' }) } },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'test_case.deleted', async (tx, change) => {
        const before = found(await findTestCase(tx, user.org_id, params.id));
        await deleteTestCase(tx, user.org_id, before.id);
        change.audit({ id: before.id, before: { name: before.name, pipeline_id: before.pipeline_id } });
      });
      return reply.code(204).send(null);
    },
  );
}

function found<T>(testCase: T | undefined): T {
  if (testCase === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such test case.' });
  return testCase;
}
