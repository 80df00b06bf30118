import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../test/servers/both-engines.ts';
import { type Harness, startHarness, type TestOrganisation } from '../roles/admin/testing/harness.ts';
import type { Db } from '../stores/config/schema.ts';
import { type CollectorFiles, createCollectorFiles } from './files.ts';
import { newPipeline, type Pipeline, quickBuild } from './testing/pipeline.ts';

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

onBothEngines('collector files', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  let server: Server;
  let files: CollectorFiles;
  /** A database that can be taken away. */
  let away = false;
  let queries = 0;
  /** Not the harness's: its access tokens would expire. It stands still, for how soon a file is asked for again is counted. */
  let time = 0;
  const clock = { now: () => time, monotonic: () => time };
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh(), build: quickBuild });
    org = await harness.newOrganisation();
    const { snapshots, ephemeral } = harness.operations;
    const db = new Proxy(harness.store.db, {
      get(target, name, receiver) {
        if (name !== 'selectFrom') return Reflect.get(target, name, receiver);
        queries++;
        if (away) throw new Error('the database is away');
        return target.selectFrom.bind(target);
      },
    }) as Db;
    files = createCollectorFiles({ db, snapshots, ephemeral, clock, logger: pino({ level: 'silent' }) });
    server = createServer((req, res) => {
      if (!files.handle(req, res)) res.writeHead(418).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    files?.stop();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    await harness?.close();
  });

  /** The path goes out exactly as it is written: `fetch` would tidy it up. */
  function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const req = request({ host: '127.0.0.1', port, path, method, headers }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) }));
      });
      req.on('error', reject);
      req.end();
    });
  }
  async function built(fields: object = {}): Promise<{ pipeline: Pipeline; hash: string; code: string; path: string; pinned: string }> {
    const pipeline = await newPipeline(harness, org, fields);
    const hash = String((await pipeline.built()).version_hash);
    const code = String((await pipeline.call('GET', '/collector/download')).body);
    return { pipeline, hash, code, path: `/c/${pipeline.key}/d.js`, pinned: `/c/${pipeline.key}/${hash}/d.js` };
  }

  test('both URLs serve the file, one cached for a minute, one forever', async () => {
    const { hash, code, path, pinned } = await built();
    for (const [address, caching] of [
      [path, 'public, max-age=60'],
      [`${path}?v=2`, 'public, max-age=60'],
      [pinned, 'public, max-age=31536000, immutable'],
    ] as const) {
      const { status, headers, body } = await get(address);
      expect([status, body.toString()], address).toEqual([200, code]);
      expect(headers, address).toMatchObject({
        'content-type': 'application/javascript; charset=utf-8',
        'content-length': String(Buffer.byteLength(code)),
        'cache-control': caching,
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        etag: `W/"${hash}"`,
        vary: 'Accept-Encoding',
      });
    }
  });

  test('a client with a current copy gets 304', async () => {
    const { hash, path, pinned } = await built();
    for (const address of [path, pinned])
      for (const tag of [`W/"${hash}"`, `"${hash}"`, `"other", W/"${hash}"`, '*']) {
        const { status, headers, body } = await get(address, { 'if-none-match': tag });
        expect([status, body.length, headers.etag], tag).toEqual([304, 0, `W/"${hash}"`]);
        expect(headers['cache-control']).toMatch(/^public/);
      }
    expect((await get(path, { 'if-none-match': '"0000000000000000"' })).status).toBe(200);
  });

  test.each([
    ['gzip, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ] as const)('Accept-Encoding %s is answered in %s', async (accepted, encoding, unpack) => {
    const { code, path } = await built();
    const { headers, body } = await get(path, { 'accept-encoding': accepted });
    expect([headers['content-encoding'], headers['content-length']]).toEqual([encoding, String(body.length)]);
    expect(unpack(body).toString()).toBe(code);
  });

  test('HEAD returns the same headers without a body; other methods are rejected', async () => {
    const { path, code } = await built();
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, String(Buffer.byteLength(code))]);
    expect((await get('/c/pk_none/d.js', {}, 'HEAD')).status).toBe(404);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers, body } = await get(path, {}, method);
      expect([status, headers.allow, JSON.parse(body.toString()).error], method).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
    }
  });

  test('other paths below /c/ get 404 in the shape of the collection endpoints', async () => {
    const { pipeline, hash, path } = await built();
    const other = await built({ js_builder_config: { global_variable: 'another' } });
    const unbuilt = await newPipeline(harness, org);
    const { key } = pipeline;
    const before = queries;
    for (const address of [
      '/c/',
      '/c//d.js',
      `/c/${key}`,
      `/c/${key}/`,
      `/c/${key}/e.js`,
      `/c/${key}/D.js`,
      `/c/${key}/d.js/`,
      `/c/${key}/d.js.map`,
      `/c/${key}/0123456789abcdef/d.js`,
      `/c/${key}/${hash}/e.js`,
      `/c/${key}/${hash.toUpperCase()}/d.js.`,
      `/c/${key}/${hash}/${hash}/d.js`,
      `/c/${key}/${other.hash}/d.js`,
      `/c/${pipeline.id}/d.js`,
      '/c/pk_unknown/d.js',
      '/c/__proto__/d.js',
      '/c/../c/x',
      `/c/${key}/../${key}/d.js`,
      `/c/${key}/..%2f${key}%2fd.js`,
      `/c/${key}/%2e%2e/%2e%2e/etc/passwd`,
      `/c/${key}/..\\..\\d.js`,
      `/c/${key}/d%2ejs`,
      `/c/${key}/d.js%00`,
      `/c/${key};x/d.js`,
      `/c/${'a'.repeat(5_000)}/d.js`,
      `/c/${unbuilt.key}/d.js`,
    ]) {
      const { status, headers, body } = await get(address);
      expect([status, JSON.parse(body.toString())], address).toEqual([
        404,
        { error: 'not_found', message: expect.stringContaining('that the collector was built') },
      ]);
      expect([headers['cache-control'], headers['access-control-allow-origin']], address).toEqual(['no-store', '*']);
    }
    // One for each pipeline, none for guesses.
    expect(queries - before).toBeLessThanOrEqual(3);
    for (const address of ['/', '/c', '/cc/x/d.js', '/v1/t']) expect((await get(address)).status, address).toBe(418);
    expect((await get(path)).status).toBe(200);
  });

  test('a new build takes over at once; the one before stays where it was pinned, and under its own name', async () => {
    const { pipeline, hash, code, path, pinned } = await built();
    await pipeline.configure({ global_variable: 'shop' });
    expect((await get(path)).body.toString()).toBe(code);
    const next = String((await pipeline.built()).version_hash);
    await expect.poll(async () => (await get(path)).headers.etag).toBe(`W/"${next}"`);
    expect((await get(pinned)).body.toString()).toBe(code);
    await pipeline.configure({ global_variable: 'shop', script_filename: 'new.js' });
    await pipeline.built();
    await expect.poll(async () => (await get(`/c/${pipeline.key}/new.js`)).status).toBe(200);
    // Pages that still name the old file go on working.
    expect((await get(path)).headers.etag).toBe(`W/"${next}"`);
    expect(next).not.toBe(hash);
  });

  test('a disabled pipeline keeps its script, a deleted one has none', async () => {
    const { pipeline, path, pinned } = await built();
    expect((await get(path)).status).toBe(200);
    expect((await pipeline.call('PUT', '', { enabled: false })).status).toBe(200);
    expect((await get(path)).status).toBe(200);
    expect((await pipeline.call('DELETE', '')).status).toBe(200);
    expect((await get(path)).status).toBe(404);
    expect((await get(pinned)).status).toBe(404);
  });

  test('files that are known are served without the database, for hours; others are 503', async () => {
    const { code, path } = await built();
    const cold = await built({ js_builder_config: { global_variable: 'cold' } });
    expect((await get(path)).body.toString()).toBe(code);
    away = true;
    try {
      for (const later of [0, 6_000, 4 * 3_600_000]) {
        time += later;
        expect((await get(path)).body.toString()).toBe(code);
      }
      const { status, headers, body } = await get(cold.path);
      expect([status, headers['retry-after'], JSON.parse(body.toString()).error]).toEqual([503, '2', 'overloaded']);
    } finally {
      away = false;
    }
    expect((await get(cold.path)).status).toBe(200);
  });

  test('many requests for a file cause one query every few seconds', async () => {
    const { path } = await built();
    const before = queries;
    await Promise.all(Array.from({ length: 50 }, () => get(path)));
    for (let i = 0; i < 20; i++) await get(path);
    expect(queries - before).toBeLessThanOrEqual(3);
  });
});
