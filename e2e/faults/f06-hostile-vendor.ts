import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { HABITS, startHostile } from './kit/hostile.ts';
import { watchMemory } from './kit/measure.ts';

const TIMEOUT_MS = 2_000;
const TOLERANCE_MS = 250;
/** These never end by themselves. Delivery must abort them exactly at the timeout. */
const UNTIL_TIMEOUT = new Set(['drips', 'endless_headers', 'silent']);

export const f6: Fault = {
  id: 'F6',
  title: 'hostile vendor responses',
  limit_s: { quick: 60, normal: 90, full: 90 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const hostile = await startHostile();
    scope.defer(() => hostile.close());
    const sink = await scope.sink();
    const good = await scope.pipeline(service, sink.url);
    const each = scope.by(5, 20);
    const memory = watchMemory(() => service.pid);
    const made = [];
    for (const habit of HABITS) {
      const { key, integration } = await scope.pipeline(
        service,
        `${hostile.url}/${habit}`,
        { timeout_ms: TIMEOUT_MS, max_retries: 0 },
        good.client,
      );
      made.push({ habit, key, integration });
      for (let n = 0; n < each; n++) await send(service, key, '/v1/t', { type: 'track', event: 'Hostile', messageId: `${habit}-${n}` });
    }
    for (const { habit, integration } of made) {
      const stats = await until(
        `all of ${habit} to end`,
        async () => {
          const { totals, waiting } = await good.client.get(`/stats?integration_id=${integration.id}`);
          return totals.delivered + totals.dead_lettered === each && waiting === 0 && totals;
        },
        30_000,
      );
      const lasted = hostile.exchanges.filter((exchange) => exchange.habit === habit).map((exchange) => exchange.lastedMs);
      const [least, most] = [Math.min(...lasted), Math.max(...lasted)];
      const ended = `${each} ended (${stats.delivered} delivered, ${stats.dead_lettered} dead)`;
      const timed = UNTIL_TIMEOUT.has(habit);
      figures.holds(
        `${habit}: ${ended}`,
        timed ? `${TIMEOUT_MS} ± ${TOLERANCE_MS} ms` : `≤ ${TIMEOUT_MS + TOLERANCE_MS} ms`,
        most <= TIMEOUT_MS + TOLERANCE_MS && (!timed || least >= TIMEOUT_MS - TOLERANCE_MS),
        `${least.toFixed(0)}–${most.toFixed(0)} ms`,
      );
    }
    memory.stop();
    await send(service, good.key, '/v1/t', { type: 'track', event: 'Good', messageId: 'after' });
    await until('a good vendor to be served', () => sink.distinct === 1);
    figures.equal('the process', service.ended() === undefined ? 'lives' : 'ended', 'lives');
    figures.atMost('peak private memory', memory.peak, 250, 'MB');
    return figures.verdict;
  },
};
