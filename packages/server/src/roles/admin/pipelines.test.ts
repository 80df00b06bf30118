import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness, type TestOrganisation } from './testing/harness.ts';

let harness: Harness;
let org: TestOrganisation;
beforeAll(async () => {
  harness = await startHarness();
  org = await harness.newOrganisation();
});
afterAll(() => harness.close());

test('a pipeline lives: created with its secret, read without, changed, deleted', async () => {
  const { token } = org.owner;
  const created = await harness.call('POST', 'pipelines', { token, body: { name: 'Café Zürich' } });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  expect(created.body).toMatchObject({ name: 'Café Zürich', slug: 'cafe-zurich', type: 'web', enabled: true, rate_limit_rps: 1000 });
  const read = await harness.call('GET', `pipelines/${created.body.id}`, { token });
  const { pipeline_key_secret: _secret, ...rest } = created.body;
  expect(read.body).toEqual(rest);
});
