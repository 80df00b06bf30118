import { setTimeout as sleep } from 'node:timers/promises';
import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures, SERVERS } from './kit/fault.ts';
import type { Scope } from './kit/scope.ts';

const BASE_MS = 400;
const THIRD_WAIT_MS = 16 * BASE_MS;
const INTERVAL_MS = 4_000;

async function restart(scope: Scope, figures: Figures, servers: boolean): Promise<void> {
  const service = await scope.service({ RETRY_BASE: `${BASE_MS}ms` }, { servers });
  const failing = await scope.receiver();
  failing.answer((_request, count) => ({ status: count <= 3 ? 503 : 200 }));
  const filling = await scope.receiver();
  const retried = await scope.pipeline(service, failing.url);
  const batched = await scope.pipeline(
    service,
    filling.url,
    { batch_enabled: true, batch_size: 100, batch_interval_ms: INTERVAL_MS },
    retried.client,
  );
  await send(service, retried.key, '/v1/t', { type: 'track', event: 'Wait', messageId: 'wait' });
  await until('three failures', () => failing.requests.length === 3, 20_000);
  await sleep(500);
  for (let n = 0; n < 10; n++) await send(service, batched.key, '/v1/t', { type: 'track', event: 'Fill', messageId: `fill-${n}` });
  await sleep(1_000);
  await service.kill();
  await service.start();
  await until('the fourth try', () => failing.requests.length === 4, 30_000);
  const gap = failing.requests[3]!.at - failing.requests[2]!.at;
  figures.holds(
    'the wait, with a kill -9 in it',
    `${THIRD_WAIT_MS}–${THIRD_WAIT_MS * 1.25 + 2_000} ms`,
    gap >= THIRD_WAIT_MS - 5 && gap <= THIRD_WAIT_MS * 1.25 + 2_000,
    `${gap} ms`,
  );
  figures.equal('attempt number after it', String(failing.requests[3]!.headers['x-firsthand-attempt']), '4');
  await until('the batch', () => filling.requests.length > 0, 45_000);
  await sleep(1_000);
  figures.equal('events of the batch that was filling', filling.events().length, 10);
  figures.equal('in one request', filling.requests.length, 1);
}

export const f10: Fault = {
  id: 'F10',
  title: 'restart during a retry wait, and while a batch fills',
  limit_s: { quick: 150, normal: 180, full: 180 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    await restart(scope, figures, false);
    await scope.close();
    await restart(scope, figures.on(SERVERS), true);
    return figures.verdict;
  },
};
