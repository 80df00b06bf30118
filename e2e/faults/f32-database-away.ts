import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../packages/server/test/servers/index.ts';
import { until } from '../harness/client.ts';
import { type Fault, Figures, SERVERS } from './kit/fault.ts';
import { arrivalsOf, startVisitors } from './kit/visitors.ts';

export const f32: Fault = {
  id: 'F32',
  title: 'every process started while PostgreSQL is away',
  limit_s: { quick: 180, normal: 240, full: 240 },
  async run(scope) {
    const figures = new Figures(SERVERS);
    const postgres = await scope.postgres();
    const ingest = await scope.service({ ROLES: 'admin,ingest', LOG_LEVEL: 'info' }, { servers: true });
    const port = String(await freePort());
    const others = scope.keep(await ingest.sibling({ ROLES: 'process,deliver', LOG_LEVEL: 'info', PORT: port }));
    const receiver = await scope.receiver();
    const { key, client } = await scope.pipeline(ingest, receiver.url);
    const plan = { urls: [ingest.url], key, visitors: 20, pauseMs: 200 };
    const before = startVisitors({ ...plan, prefix: 'before' });
    await until('traffic', () => receiver.requests.length > 50, 30_000);
    await before.stop();
    await Promise.all([ingest.kill(), others.kill()]);
    await postgres.kill();
    const logged = [ingest, others].map((service) => service.output().length);

    const began = performance.now();
    const starting = others.start();
    await ingest.start();
    const during = startVisitors({ ...plan, prefix: 'during' });
    await until('the first 200', () => during.lastOk.answeredAt > 0, 60_000);
    figures.tell('from the start of the processes to the first 200', (performance.now() - began) / 1_000, 's');
    await until('the other process to wait', async () => (await readiness(port)) === 503, 60_000);
    const arrived = receiver.requests.length;
    await sleep(scope.by(5_000, 45_000));
    figures.equal('answers to events', [...during.statuses.keys()].join(', '), '200');
    figures.equal('/readyz of process and deliver', await readiness(port), 503);
    figures.equal('delivered meanwhile', receiver.requests.length - arrived, 0);
    figures.equal('the management API', (await client.call('GET', '/pipelines')).status, 503);
    await postgres.restart();
    const up = performance.now();
    await starting;
    await until('the management API', async () => (await client.call('GET', '/pipelines')).status === 200, 60_000);
    figures.atMost('everything works again after', (performance.now() - up) / 1_000, 10, 's');
    await during.stop();
    const { lost, repeated, outOfOrder } = await arrivalsOf(receiver, during, 60_000);
    figures.tell('accepted', during.accepted.size);
    figures.equal('lost', lost, 0);
    figures.equal('repeated', repeated, 0);
    figures.equal('out of order', outOfOrder, 0);
    const minutes = scope.by(1, 2);
    for (const [n, service] of [ingest, others].entries()) {
      const lines = service.output().slice(logged[n]).split('PostgreSQL does not accept the connection').length - 1;
      figures.atMost(`log lines about it in ${minutes} min, process ${n + 1}`, lines, minutes);
    }
    return figures.verdict;
  },
};

async function readiness(port: string): Promise<number> {
  return await fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );
}
