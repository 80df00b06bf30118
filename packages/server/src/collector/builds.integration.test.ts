import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { type BuildInput, type CollectorBuild, CollectorConfigError } from '@firsthand/collector/build/builder.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { onBothEngines } from '../../test/servers/both-engines.ts';
import { type Harness, startHarness, type TestOrganisation } from '../roles/admin/testing/harness.ts';
import { KEPT_FILES, listFiles } from '../stores/config/collector-builds.ts';
import { newPipeline, quickBuild, startBuilder } from './testing/pipeline.ts';

onBothEngines('the collector with the real bundler', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh() });
    org = await harness.newOrganisation();
  });
  afterAll(() => harness?.close());

  test('goes from no_builds through building to ready, with the same hash for the same configuration', async () => {
    const pipeline = await newPipeline(harness, org);
    expect(await pipeline.status()).toEqual({ status: 'no_builds', pipeline_id: pipeline.id });
    const first = await pipeline.built();
    expect(first).toEqual({
      status: 'ready',
      pipeline_id: pipeline.id,
      build_id: expect.stringMatching(/^bld_/),
      version_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      file_size_bytes: expect.any(Number),
      built_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    });
    const again = await pipeline.built();
    expect(again).toMatchObject({ status: 'ready', version_hash: first.version_hash });
    expect(again.build_id).not.toBe(first.build_id);
    await pipeline.configure({ global_variable: 'shop' });
    expect((await pipeline.built()).version_hash).not.toBe(first.version_hash);
  });

  test('is downloaded as a program under its own name, with a source map on request', async () => {
    const pipeline = await newPipeline(harness, org, { js_builder_config: { script_filename: 'my-events.js' } });
    const missing = await pipeline.call('GET', '/collector/download');
    expect([missing.status, missing.body.error.code]).toEqual([404, 'NOT_FOUND']);
    const { version_hash, file_size_bytes } = await pipeline.built();
    const file = await pipeline.call('GET', '/collector/download');
    const code = String(file.body);
    expect([file.status, file.headers['content-type'], file.headers['content-disposition']]).toEqual([
      200,
      'application/javascript',
      'attachment; filename="my-events.js"',
    ]);
    expect(createHash('sha256').update(code).digest('hex').slice(0, 16)).toBe(version_hash);
    expect(Buffer.byteLength(code)).toBe(file_size_bytes);
    expect(code).toContain(pipeline.key);
    expect(() => new Script(code)).not.toThrow();
    const map = await pipeline.call('GET', '/collector/download?map=1');
    expect(map.headers['content-disposition']).toBe('attachment; filename="my-events.js.map"');
    expect(map.body.sources).toContain('src/main.ts');
    expect((await pipeline.call('GET', '/collector/download?map=maybe')).status).toBe(422);
  });

  test('carries the integrations that the browser serves, parameters filled in, and those only', async () => {
    const pipeline = await newPipeline(harness, org, { parameters: { HOOK: 'https://hook.example/filled-in' } });
    const attach = (body: object) =>
      harness.call('POST', 'integrations', {
        token: org.owner.token,
        body: { source_id: pipeline.id, vendor: 'webhook', name: 'Hook', enabled: true, ...body },
      });
    const answers = [
      await attach({ delivery_mode: 'client_side', config: { url: '{{pipeline_param.HOOK}}' } }),
      await attach({ delivery_mode: 'client_side', config: { url: 'https://disabled.example/' }, enabled: false }),
      await attach({ config: { url: 'https://server.example/', authentication: 'bearer', auth_token: 'a-secret-of-the-server' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await pipeline.built()).toMatchObject({ status: 'ready' });
    const code = String((await pipeline.call('GET', '/collector/download')).body);
    expect(code).toContain('https://hook.example/filled-in');
    for (const absent of ['disabled.example', 'server.example', 'a-secret-of-the-server', 'pipeline_param.HOOK'])
      expect(code).not.toContain(absent);
  });
});

onBothEngines('collector builds', (fresh) => {
  let harness: Harness;
  let org: TestOrganisation;
  const builders: { stop(): Promise<void> }[] = [];
  beforeAll(async () => {
    harness = await startHarness({ databaseUrl: await fresh(), build: null });
    org = await harness.newOrganisation();
  });
  afterEach(async () => {
    for (const builder of builders.splice(0)) await builder.stop();
  });
  afterAll(() => harness?.close());
  const start = (build: Parameters<typeof startBuilder>[1] = quickBuild) => builders.push(startBuilder(harness, build));

  test('a build interrupted by a process exit is finished by the next process', async () => {
    const pipeline = await newPipeline(harness, org);
    await pipeline.build();
    expect(await pipeline.status()).toEqual({ status: 'building', pipeline_id: pipeline.id });
    start();
    expect(await pipeline.settled()).toMatchObject({ status: 'ready', version_hash: expect.any(String) });
  });

  test('a build is finished by another process if its process exits', async () => {
    const pipeline = await newPipeline(harness, org);
    await pipeline.build();
    let reached = () => {};
    const begun = new Promise<void>((resolve) => (reached = resolve));
    // Never ends, so it is not among those that are stopped.
    startBuilder(harness, () => {
      reached();
      return new Promise(() => {});
    });
    await begun;
    start();
    expect(await pipeline.settled()).toMatchObject({ status: 'ready' });
  });

  test('the previous file is served while the next is built and after a failed build, which gives the reason', async () => {
    const pipeline = await newPipeline(harness, org);
    let next: (input: BuildInput) => Promise<CollectorBuild> = quickBuild;
    start((input) => next(input));
    const first = await pipeline.built();
    const before = String((await pipeline.call('GET', '/collector/download')).body);

    let fail: (error: Error) => void = () => {};
    next = () => new Promise((_, reject) => (fail = reject));
    await pipeline.configure({ global_variable: 'other' });
    await pipeline.build();
    await expect.poll(() => fail.length).toBe(1);
    expect(await pipeline.status()).toEqual({ ...first, status: 'building' });
    expect((await pipeline.call('GET', '/collector/download')).body).toBe(before);
    fail(new CollectorConfigError('int_1: "auth_token" is a secret, which no page may carry'));
    const after = { ...first, error: 'int_1: "auth_token" is a secret, which no page may carry' };
    expect(await pipeline.settled()).toEqual(after);
    expect((await pipeline.call('GET', '/collector/download')).body).toBe(before);

    // Whatever else goes wrong may speak of paths.
    next = async () => Promise.reject(new Error('ENOENT /srv/secret/place'));
    expect(JSON.stringify(await pipeline.built())).not.toContain('/srv');
    next = quickBuild;
    const last = await pipeline.built();
    expect(last).not.toHaveProperty('error');
    expect(last.version_hash).not.toBe(first.version_hash);
  });

  test('a first build that fails returns to no_builds, with the reason', async () => {
    const pipeline = await newPipeline(harness, org);
    start(async () => Promise.reject(new CollectorConfigError('variables: "x" has a target that no event can hold')));
    expect(await pipeline.built()).toEqual({
      status: 'no_builds',
      pipeline_id: pipeline.id,
      error: 'variables: "x" has a target that no event can hold',
    });
    expect((await pipeline.call('GET', '/collector/download')).status).toBe(404);
    expect((await pipeline.call('GET', '/collector/snippet?pinned=true')).status).toBe(404);
  });

  test('an integration whose vendor has left the catalog fails the build', async () => {
    const pipeline = await newPipeline(harness, org);
    const made = await harness.call('POST', 'integrations', {
      token: org.owner.token,
      body: {
        source_id: pipeline.id,
        vendor: 'webhook',
        name: 'Hook',
        enabled: true,
        delivery_mode: 'client_side',
        config: { url: 'https://a.example/' },
      },
    });
    const { db } = harness.store;
    await db.updateTable('templates').set({ vendor: 'gone' }).where('id', '=', String(made.body.template_id)).execute();
    await db.updateTable('integrations').set({ row_version: 1_000_000 }).where('id', '=', made.body.id).execute();
    start();
    expect(await pipeline.built()).toMatchObject({ status: 'no_builds', error: expect.stringContaining('no vendor gone') });
  });

  test('builds run one at a time; pending requests for one pipeline are merged, and none is lost', async () => {
    const pipelines = await Promise.all([1, 2, 3].map(() => newPipeline(harness, org)));
    let running = 0;
    let most = 0;
    let builds = 0;
    for (const pipeline of pipelines) for (let wish = 0; wish < 4; wish++) await pipeline.build();
    start(async (input) => {
      builds++;
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return await quickBuild(input);
    });
    for (const pipeline of pipelines) expect(await pipeline.settled()).toMatchObject({ status: 'ready' });
    expect([most, builds]).toEqual([1, 3]);
  });

  test('a request during a build uses the configuration at that time', async () => {
    const pipeline = await newPipeline(harness, org);
    let go = () => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const names: string[] = [];
    start(async (input) => {
      names.push(input.pipeline.js_builder_config.global_variable);
      await gate;
      return await quickBuild(input);
    });
    await pipeline.build();
    await expect.poll(() => names).toEqual(['_df']);
    await pipeline.configure({ global_variable: 'later' });
    await pipeline.build();
    go();
    await pipeline.settled();
    expect(names).toEqual(['_df', 'later']);
    expect(String((await pipeline.call('GET', '/collector/download')).body)).toContain('later');
  });

  test(`the newest ${KEPT_FILES} different files keep their bytes, however often one of them is built`, async () => {
    const pipeline = await newPipeline(harness, org);
    start();
    const hashes: unknown[] = [];
    for (let number = 0; number <= KEPT_FILES + 1; number++) {
      await pipeline.configure({ global_variable: `v${number}` });
      hashes.unshift((await pipeline.built()).version_hash);
      if (number % 10 === 0) await pipeline.built();
    }
    const kept = await listFiles(harness.store.db, pipeline.id);
    expect(kept.map(({ version_hash }) => version_hash)).toEqual(hashes.slice(0, KEPT_FILES));
    // Of the large source maps only the newest file's, which is the one that can be asked for.
    const maps = harness.store.db.selectFrom('collector_builds').select('id').where('pipeline_id', '=', pipeline.id);
    expect(await maps.where('source_map', 'is not', null).execute()).toEqual([{ id: kept[0]!.id }]);
    expect((await pipeline.call('GET', '/collector/download?map=1')).status).toBe(200);
  });

  test('the consent mapping of the organisation is part of the build', async () => {
    const own = await harness.newOrganisation();
    const pipeline = await newPipeline(harness, own);
    const config = { consent: { mapping: { C0009: 'analytics' } } };
    expect((await harness.call('PUT', 'data-layer', { token: own.owner.token, body: { config } })).status).toBe(200);
    start();
    await pipeline.built();
    expect(String((await pipeline.call('GET', '/collector/download')).body)).toContain('"C0009":"analytics"');
  });

  test('a pipeline deleted while it waits ends quietly', async () => {
    const pipeline = await newPipeline(harness, org);
    await pipeline.build();
    expect((await pipeline.call('DELETE', '')).status).toBe(200);
    start();
    const rows = () => harness.store.db.selectFrom('collector_builds').select('status').where('pipeline_id', '=', pipeline.id).execute();
    await expect.poll(rows).toEqual([{ status: 'failed' }]);
  });

  test('viewers read, editors build, other organisations get 404; each build request has one audit entry', async () => {
    const pipeline = await newPipeline(harness, org);
    const viewer = (await org.user('viewer')).token;
    const editor = (await org.user('editor')).token;
    const foreign = (await harness.newOrganisation()).owner.token;
    start();
    expect((await pipeline.call('POST', '/collector/build', undefined, viewer)).status).toBe(403);
    expect((await pipeline.call('POST', '/collector/build', undefined, editor)).status).toBe(200);
    await pipeline.settled();
    for (const path of ['status', 'download', 'snippet', 'snippet?pinned=true']) {
      expect((await pipeline.call('GET', `/collector/${path}`, undefined, viewer)).status, path).toBe(200);
      expect((await pipeline.call('GET', `/collector/${path}`, undefined, foreign)).status, path).toBe(404);
    }
    const { body } = await harness.call('GET', `audit-logs?resource_id=${pipeline.id}&action=pipeline.collector_build_started`, {
      token: org.owner.token,
    });
    expect(body.total).toBe(1);
  });

  test('the snippet names the newest build, or pins one with its integrity', async () => {
    const pipeline = await newPipeline(harness, org);
    const ask = async (query = '') => (await pipeline.call('GET', `/collector/snippet${query}`)).body;
    const origin = 'http://localhost:80';
    const url = `${origin}/c/${pipeline.key}/d.js`;
    const plain = {
      snippet: `<script async src="${url}" data-pipeline-key="${pipeline.key}"></script>`,
      url,
      pinned: false,
      integrity: null,
      ingest_url: origin,
    };
    expect(await ask()).toEqual(plain);
    expect((await pipeline.call('GET', '/collector/snippet?pinned=true')).status).toBe(404);
    start();
    const { version_hash } = await pipeline.built();
    const code = String((await pipeline.call('GET', '/collector/download')).body);
    expect(await ask()).toEqual(plain);
    const integrity = `sha384-${createHash('sha384').update(code).digest('base64')}`;
    // A name for the next build is not yet one of this build.
    await pipeline.configure({ script_filename: 'next.js' });
    const pinnedUrl = `${origin}/c/${pipeline.key}/${String(version_hash)}/d.js`;
    const tag = `<script async src="${pinnedUrl}" data-pipeline-key="${pipeline.key}" integrity="${integrity}" crossorigin="anonymous"></script>`;
    expect(await ask('?pinned=true')).toEqual({ snippet: tag, url: pinnedUrl, pinned: true, integrity, ingest_url: origin });
    expect((await ask()).url).toBe(`${origin}/c/${pipeline.key}/next.js`);
    await pipeline.configure({ delivery_method: 'download' });
    expect(await ask()).toMatchObject({ url: '/d.js', snippet: expect.stringContaining(`data-ingest-url="${origin}"`) });
  });
});
