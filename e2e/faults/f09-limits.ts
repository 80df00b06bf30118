import { setTimeout as sleep } from 'node:timers/promises';
import { send, signIn, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';

const RPS = 20;
const BURST = 40;

export const f9: Fault = {
  id: 'F9',
  title: 'rate limit, burst and daily cap of an integration',
  limit_s: { quick: 60, normal: 90, full: 90 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const events = scope.by(120, 300);
    const service = await scope.service();
    const vendor = await scope.receiver();
    const paced = await scope.pipeline(service, vendor.url, { rate_limit_rps: RPS, rate_limit_burst: BURST });
    const track = (key: string, id: string) => send(service, key, '/v1/t', { type: 'track', event: 'Limit', messageId: id });
    for (let n = 0; n < events; n++) await track(paced.key, `pace-${n}`);
    await until('all of them', () => vendor.requests.length >= events, (1_000 * events) / RPS + 15_000);
    const times = vendor.requests.map((request) => request.at);
    const within = (ms: number) => Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
    figures.equal('delivered', vendor.requests.length, events);
    // Any window of one second may contain a full bucket and its refill; arrivals jitter by a few.
    figures.atMost('requests in the busiest second', within(1_000), BURST + RPS + 3);
    figures.atLeast('time for all of them', (times.at(-1)! - times[0]!) / 1_000, (events - BURST) / RPS - 0.5, 's');
    const attempts = () => [...new Set(vendor.requests.map((request) => request.headers['x-firsthand-attempt']))].join(', ');
    figures.equal('attempt number of every request', attempts(), '1');

    const capped = await scope.receiver();
    const { key, client, integration, pipeline } = await scope.pipeline(service, capped.url, {}, paced.client);
    const path = `/pipelines/${pipeline.id}/integrations/${integration.id}` as const;
    await client.put(path, { rate_limit_daily: 30 });
    for (let n = 0; n < 50; n++) await track(key, `daily-${n}`);
    await until('the cap', () => capped.requests.length >= 30);
    await sleep(1_000);
    await service.kill();
    await service.start();
    const again = await signIn(service);
    await sleep(2_000);
    figures.equal('delivered under a cap of 30, a kill -9 included', capped.requests.length, 30);
    const health = await until('the health', async () => {
      const found = (await again.get(path)).health;
      return found.status === 'paused' && found;
    });
    figures.equal('waiting', health.waiting, 20);
    await again.put(path, { rate_limit_daily: 1_000 });
    await until('the rest', () => capped.requests.length >= 50, 20_000);
    await sleep(300);
    figures.equal('delivered once the cap was raised', new Set(capped.requests.map((r) => r.headers['webhook-id'])).size, 50);
    figures.equal(
      'attempt number of every request under the cap',
      [...new Set(capped.requests.map((r) => r.headers['x-firsthand-attempt']))].join(', '),
      '1',
    );
    return figures.verdict;
  },
};
