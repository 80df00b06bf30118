import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './testing/harness.ts';

let harness: Harness;
let viewer: string;
beforeAll(async () => {
  harness = await startHarness();
  viewer = (await (await harness.newOrganisation()).user('viewer')).token;
});
afterAll(() => harness?.close());

test.each([
  // 401 without a token, 403 for a viewer: the sibling `DELETE /users/:id` needs an admin.
  ['DELETE', 'users/me', undefined, 'GET, HEAD'],
  // 400: the sibling `PUT /users/:id` has a body.
  ['PUT', 'users/me', '{broken', 'GET, HEAD'],
  ['DELETE', 'dlq/replay', undefined, 'POST'],
  ['GET', 'pipelines/pl_x/transformations/order', undefined, 'PUT'],
])('a method of a sibling route is 405 before token, role and body count: %s %s', async (method, path, body, allow) => {
  for (const token of [undefined, viewer, 'no token']) {
    const answer = await harness.call(method, path, { ...(token === undefined ? {} : { token }), body });
    expect([answer.status, answer.body.error.code, answer.headers.allow]).toEqual([405, 'METHOD_NOT_ALLOWED', allow]);
    expect(answer.headers['x-request-id']).toBeTruthy();
  }
});

test('a 405 without a token tells no more than the public document', async () => {
  const { paths } = (await harness.call('GET', 'openapi.json')).body as unknown as { paths: Record<string, Record<string, unknown>> };
  for (const { url, config } of harness.app.routeTable) {
    if (config.undocumented === true || !url.startsWith('/v1/admin')) continue;
    const answer = await harness.call('PATCH', url.replaceAll(/:\w+/g, 'some-id'));
    const documented = Object.keys(paths[url.replaceAll(/:(\w+)/g, '{$1}')] ?? {}).map((method) => method.toUpperCase());
    expect(answer.status, url).toBe(405);
    expect(
      String(answer.headers.allow)
        .split(', ')
        .filter((method) => method !== 'HEAD'),
      url,
    ).toEqual(documented.sort());
  }
});

test('every 401 of the management API carries a challenge', async () => {
  const calls: [method: string, path: string, token?: string | undefined, body?: object][] = [
    ['GET', 'pipelines'],
    ['GET', 'pipelines', 'no token'],
    ['GET', 'pipelines', 'pk_a_pipeline_key'],
    ['POST', 'auth/login', undefined, { email: 'nobody@example.com', password: 'wrong horse battery' }],
    ['POST', 'auth/refresh', undefined, { refresh_token: 'unknown' }],
  ];
  for (const [method, path, token, body] of calls) {
    const answer = await harness.call(method, path, { ...(token === undefined ? {} : { token }), body });
    expect([answer.status, answer.headers['www-authenticate']], `${method} ${path}`).toEqual([401, 'Bearer']);
  }
});

// A schema-driven tester made no request at all for the routes whose bodies had \p{ID_Start}.
test('patterns of the document use classes of characters that tools for JSON Schema know', async () => {
  const document = JSON.stringify((await harness.call('GET', 'openapi.json')).body);
  const classes = new Set([...document.matchAll(/\\\\[pP]\{(\w+)\}/g)].map(([, name]) => name));
  expect([...classes].toSorted()).toEqual(['L', 'Ll', 'Lo', 'Lu', 'N', 'Nd']);
});
