import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsoleFiles } from './console-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-console-'));
let app: FastifyInstance;
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Firsthand</title>');
  writeFileSync(join(folder, 'assets/index-abc.js'), 'console.log(1)');
  writeFileSync(join(folder, 'assets/index-abc.js.gz'), gzipSync('console.log(1)'));
  const files = openConsoleFiles(folder);
  app = Fastify();
  app.get('/*', async (request, reply) => files.send(request, reply, request.url) ?? reply.code(files.isPage(request) ? 299 : 404).send());
  await app.ready();
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

test('the page is never cached and may run no inline script', async () => {
  const answer = await app.inject('/');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-cache');
  expect(answer.headers['content-security-policy']).toContain("script-src 'self';");
});
test('hashed files are cached for good and sent compressed where the client takes it', async () => {
  const answer = await app.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': 'gzip' } });
  expect(answer.headers).toMatchObject({ 'cache-control': 'public, max-age=31536000, immutable', 'content-encoding': 'gzip' });
  expect(gunzipSync(answer.rawPayload).toString()).toBe('console.log(1)');
  expect(
    (await app.inject({ url: '/assets/index-abc.js', headers: { 'accept-encoding': 'br' } })).headers['content-encoding'],
  ).toBeUndefined();
});
test.each([
  '/../../etc/passwd',
  '/assets/../index.html',
  '/assets/%2e%2e/index.html',
  '/assets/none.js',
  '/assets',
])('%s is no file of the console', (path) => {
  const never = undefined as never;
  expect(openConsoleFiles(folder).send(never, never, path)).toBeUndefined();
});
test.each<[string, string | undefined, boolean]>([
  ['/pipelines/pl_1?tab=integrations', 'text/html,application/xhtml+xml', true],
  ['/pipelines/pl_1', 'application/json', false],
  ['/pipelines/pl_1', undefined, false],
  ['/v1/admin/nothing', 'text/html', false],
])('a request for %s with Accept %s opens a page: %s', async (url, accept, page) => {
  expect((await app.inject({ url, headers: accept === undefined ? {} : { accept } })).statusCode).toBe(page ? 299 : 404);
});
test('a file that an upgrade removed is not found, and found again once it is back', async () => {
  writeFileSync(join(folder, 'assets/old-1.js'), '1');
  const files = openConsoleFiles(folder);
  const other = Fastify();
  other.get('/*', async (request, reply) => files.send(request, reply, request.url));
  rmSync(join(folder, 'assets/old-1.js'));
  expect((await other.inject('/assets/old-1.js')).statusCode).toBe(404);
  writeFileSync(join(folder, 'assets/old-1.js'), '2');
  expect((await other.inject('/assets/old-1.js')).body).toBe('2');
  await other.close();
});
test('a console that was never built has no files', () => {
  expect(openConsoleFiles(join(folder, 'nowhere')).isPage).toBeTypeOf('function');
});
