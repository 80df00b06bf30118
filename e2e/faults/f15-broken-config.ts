import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { send, signIn, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';

/** Rows that the API would reject: JSON of the wrong shape, and invalid JSON. */
const NONSENSE = ['{"version":2,"url":17,"events":["not an object"]}', '{"url":"http://127.0.0.1', '[]', 'null'];

export const f15: Fault = {
  id: 'F15',
  title: 'invalid configuration rows in the database',
  limit_s: { quick: 90, normal: 90, full: 90 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const pid = service.pid;
    const vendor = await scope.receiver();
    const healthy = await scope.pipeline(service, `${vendor.url}/healthy`);
    const { client } = healthy;
    const broken: (Awaited<ReturnType<typeof scope.pipeline>> & { config: string; index: number })[] = [];
    for (const [index, config] of NONSENSE.entries()) {
      const made = await scope.pipeline(service, `${vendor.url}/broken-${index}`, {}, client);
      // A second integration of the same pipeline, which must keep working.
      await client.post('/integrations', {
        source_id: made.pipeline.id,
        vendor: 'webhook',
        name: 'Neighbour',
        config: { url: `${vendor.url}/neighbour-${index}` },
      });
      broken.push({ ...made, config, index });
    }
    const transformed = await scope.pipeline(service, `${vendor.url}/transformed`, {}, client);
    const transformation = await client.post(`/pipelines/${transformed.pipeline.id}/transformations`, {
      name: 'Rules',
      kind: 'rules',
      rules: [{ type: 'set', target: 'properties.ran', value: true }],
      enabled: true,
    });
    const planned = await scope.pipeline(service, `${vendor.url}/planned`, {}, client);
    await client.put(`/pipelines/${planned.pipeline.id}/tracking-plan`, { events: { Broken: { type: 'object' } }, on_violation: 'flag' });

    const db = new DatabaseSync(join(service.dataDir, 'config.sqlite'));
    const [{ version }] = db.prepare('select version from config_version').all() as [{ version: number }];
    const next = version + 1;
    db.exec('drop trigger revisions_no_update');
    for (const { integration, config } of broken) {
      db.prepare('update revisions set config = ?, secrets = null where template_id = ?').run(config, integration.template_id);
      db.prepare('update integrations set row_version = ? where id = ?').run(next, integration.id);
    }
    db.prepare('update transformations set rules = ?, row_version = ? where id = ?').run('[{"type":"explode"},', next, transformation.id);
    db.prepare('update tracking_plans set plan = ?, row_version = ? where pipeline_id = ?').run(
      '{"events":{"Broken":{"type":5}}}',
      next,
      planned.pipeline.id,
    );
    db.prepare('update pipelines set row_version = ? where id in (?, ?)').run(next, planned.pipeline.id, transformed.pipeline.id);
    db.prepare('update config_version set version = ?').run(next);
    db.close();

    const judge = async (when: string) => {
      const own = await signIn(service);
      const before = vendor.requests.length;
      const keys = [healthy.key, transformed.key, planned.key, ...broken.map(({ key }) => key)];
      const statuses = new Set<number>();
      for (const [index, key] of keys.entries())
        statuses.add(
          (await send(service, key, '/v1/t', { type: 'track', event: 'Broken', messageId: `${when.replace(' ', '-')}-${index}` })).status,
        );
      figures.equal(`${when}: answers to events`, [...statuses].join(', '), '200');
      const reached = (path: string) => vendor.requests.slice(before).some((request) => request.path === path);
      const others = ['/healthy', ...broken.map(({ index }) => `/neighbour-${index}`)];
      await until('the others', () => others.every(reached), 10_000).catch(() => {});
      await sleep(500);
      figures.equal(`${when}: healthy integrations served`, others.filter(reached).length, others.length);
      figures.equal(`${when}: broken ones served`, broken.filter(({ index }) => reached(`/broken-${index}`)).length, 0);
      const shown = [];
      for (const { pipeline, integration } of broken) {
        const { status, body } = await own.call('GET', `/pipelines/${pipeline.id}/integrations/${integration.id}`);
        shown.push(status === 200 ? body.health : { status: `HTTP ${status}`, warnings: [] });
      }
      figures.equal(`${when}: shown as`, [...new Set(shown.map(({ status }) => status))].join(', '), 'misconfigured');
      figures.equal(`${when}: with a reason`, shown.filter(({ warnings }) => warnings.length > 0).length, broken.length);
      const letters = (await own.get(`/dlq?pipeline_id=${transformed.pipeline.id}`)).total;
      figures.holds(
        `${when}: a pipeline with broken rules`,
        'served or dead-lettered',
        reached('/transformed') || letters > 0,
        reached('/transformed') ? 'served' : `${letters} dead letters`,
      );
    };
    await sleep(2_500);
    await judge('while running');
    figures.equal('the process', service.pid === pid && service.ended() === undefined ? 'lives' : 'ended', 'lives');
    await service.kill();
    await service.start();
    await judge('after restart');
    return figures.verdict;
  },
};
