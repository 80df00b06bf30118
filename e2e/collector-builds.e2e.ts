import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Loose, signIn, until } from './harness/client.ts';
import { onServers, type Service, startService } from './harness/service.ts';

describe('collector builds', () => {
  let service: Service;
  let client: Client;
  beforeAll(async () => {
    service = await startService();
    client = await signIn(service);
  });
  afterAll(() => service?.stop());

  const build = (pipeline: Loose) => client.post(`/pipelines/${pipeline.id}/collector/build`);
  const ready = (pipeline: Loose) =>
    until('the build', async () => {
      const status = await client.get(`/pipelines/${pipeline.id}/collector/status`);
      return status.status === 'ready' && status;
    });

  test('a killed service finishes pending builds after a restart', async () => {
    const pipelines = [];
    for (const name of ['One', 'Two', 'Three']) pipelines.push(await client.post('/pipelines', { name }));
    // One build takes longer than these requests, so some still wait at the kill.
    for (const pipeline of pipelines) await build(pipeline);
    await service.kill();
    await service.start();
    for (const pipeline of pipelines) {
      const { version_hash } = await ready(pipeline);
      const file = await fetch(`${service.url}/c/${pipeline.pipeline_key}/d.js`);
      expect([file.status, file.headers.get('etag')]).toEqual([200, `W/"${version_hash}"`]);
      expect(await file.text()).toContain(pipeline.pipeline_key);
    }
  });

  test('built files survive a restart, and the API document lists their paths', async () => {
    const pipeline = await client.post('/pipelines', { name: 'Lasting', js_builder_config: { script_filename: 'shop.js' } });
    await build(pipeline);
    const { version_hash } = await ready(pipeline);
    expect(await service.terminate()).toBe(0);
    await service.start();
    const file = await fetch(`${service.url}/c/${pipeline.pipeline_key}/${version_hash}/shop.js`);
    expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    const { paths } = (await (await fetch(`${service.url}/v1/admin/openapi.json`)).json()) as { paths: object };
    expect(paths).toHaveProperty(['/c/{pipeline_key}/{script_filename}']);
    expect(paths).toHaveProperty(['/c/{pipeline_key}/{version_hash}/{script_filename}']);
  });

  test.runIf(onServers)('another process serves each build, including the next one', async () => {
    const edge = await service.sibling({ ROLES: 'ingest' });
    const pipeline = await client.post('/pipelines', { name: 'Apart' });
    await build(pipeline);
    const first = await ready(pipeline);
    const etag = async () => (await fetch(`${edge.url}/c/${pipeline.pipeline_key}/d.js`)).headers.get('etag');
    // Its snapshot contains the new pipeline after the next reload.
    await until('the file', async () => (await etag()) === `W/"${first.version_hash}"`);
    await client.put(`/pipelines/${pipeline.id}`, { js_builder_config: { global_variable: 'shop' } });
    await build(pipeline);
    const second = await ready(pipeline);
    expect(second.version_hash).not.toBe(first.version_hash);
    await until('the next file', async () => (await etag()) === `W/"${second.version_hash}"`);
  });
});
