import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { startSender } from './kit/sender.ts';

const TABLE = [1, 4, 16, 64, 256];
/** Tolerance for the event loops of two busy processes. */
const SLACK_MS = 300;

export const f7: Fault = {
  id: 'F7',
  title: '5xx storm',
  limit_s: { quick: 60, normal: 90, full: 600 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const baseMs = scope.by(20, 50, 1_000);
    const events = scope.by(50, 300);
    const service = await scope.service({ RETRY_BASE: `${baseMs}ms` });
    const vendor = await scope.receiver();
    vendor.answer((_request, count) => ({ status: 500 + (count % 5) }));
    const { key, client, integration } = await scope.pipeline(service, vendor.url);
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 8, batch: 1, prefix: 'storm', rate: 200 });
    await until('the events', () => sender.accepted.size >= events);
    await sender.stop();
    const letters = await until(
      'the dead letters',
      async () => {
        const found = await client.get(`/dlq?integration_id=${integration.id}&limit=100`);
        return found.total >= sender.accepted.size && found;
      },
      baseMs * 341 * 1.25 + 30_000,
      // Too few is also a result; the attempts below show where the others are.
    ).catch(() => client.get(`/dlq?integration_id=${integration.id}&limit=100`));
    const tries = Map.groupBy(vendor.requests, (request) => String(request.headers['webhook-id']));
    const counts = [...tries.values()].map((own) => own.length);
    figures.tell('events', sender.accepted.size);
    figures.equal('tries of each event', [...new Set(counts)].join(', '), '6');
    for (const [index, factor] of TABLE.entries()) {
      const gaps = [...tries.values()].flatMap((own) => (own[index + 1] ? [own[index + 1]!.at - own[index]!.at] : []));
      const wait = factor * baseMs;
      const [least, most] = [Math.min(...gaps), Math.max(...gaps)];
      figures.holds(
        `wait ${index + 1}`,
        `${wait}–${wait * 1.25} ms (+ ${SLACK_MS})`,
        least >= wait - 1 && most <= wait * 1.25 + SLACK_MS,
        `${least}–${most} ms`,
      );
    }
    figures.equal('dead letters', letters.total, sender.accepted.size);
    const good = letters.dead_letters.every(
      (letter: { stage: string; attempts: unknown[]; reason: string }) =>
        letter.stage === 'delivery' && letter.attempts.length === 6 && letter.reason !== '',
    );
    figures.equal('each with stage, reason and six attempts', good ? 'yes' : 'no', 'yes');
    return figures.verdict;
  },
};
