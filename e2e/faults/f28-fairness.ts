import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile } from './kit/measure.ts';
import { startSender } from './kit/sender.ts';

const RATE = 60;
const OTHER = { email: 'other@firsthand.test', password: 'correct-horse-battery' };
const CLI = join(import.meta.dirname, '../../packages/cli/src/firsthand.js');
/** Often hits the soft limit, and allocates constantly. */
const HEAVY =
  'function transform(event) { let s = 0; for (let i = 0; i < 400000; i++) s += [i].length; event.properties.s = s; return event }';

export const f28: Fault = {
  id: 'F28',
  title: 'noisy neighbour: one organisation floods, sends large events, runs heavy code and has a slow vendor',
  limit_s: { quick: 180, normal: 300, full: 900 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const port = Number(new URL(service.url).port);
    const quiet = await scope.sink();
    const { key } = await scope.pipeline(service, quiet.url);
    execFileSync(
      process.execPath,
      [CLI, 'org', 'create', '--name', 'Loud', '--owner-email', OTHER.email, '--owner-password', OTHER.password],
      { env: { ...process.env, ...service.env } },
    );
    const loud = await signIn(service, OTHER);
    const slow = await scope.sink({ delayMs: 2_000 });
    const noisy = await scope.pipeline(service, slow.url, {}, loud);
    await loud.call('PUT', '/data-layer', { config: { pii_rules: { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'hash' } } });
    await loud.call('POST', `/pipelines/${noisy.pipeline.id}/transformations`, { name: 'Heavy', kind: 'code', code: HEAVY, enabled: true });

    const victim = startSender({ port, key, connections: 8, batch: 1, prefix: 'quiet', rate: RATE });
    await sleep(4_000);
    await quiet.latencies();
    await sleep(scope.by(10_000, 30_000));
    const before = await quiet.latencies();
    const text = 'a@b.co +49 151 23456789 '.repeat(8_000);
    const flood = startSender({ port, key: noisy.key, connections: 16, batch: 20, prefix: 'flood', restMs: 20 });
    const large = startSender({
      port,
      key: noisy.key,
      connections: 2,
      batch: 1,
      prefix: 'large',
      rate: 5,
      fields: () => `,"context":{"note":"${text}"}`,
    });
    await sleep(3_000);
    await quiet.latencies();
    await sleep(scope.by(15_000, 60_000));
    const during = await quiet.latencies();
    await Promise.all([victim.stop(), flood.stop(), large.stop()]);
    const [calm, loudly] = [percentile(before, 0.99), percentile(during, 0.99)];
    figures.tell('p99 of the quiet organisation before, sent to arrived', calm, 'ms');
    figures.tell('p99 of the quiet organisation during', loudly, 'ms');
    figures.tell('deliveries measured during', during.length);
    figures.tell('events accepted from the loud organisation', flood.accepted.size + large.accepted.size);
    figures.atMost('during ÷ before', loudly / calm, 1.5, '×');
    figures.equal("answers to the quiet organisation's events", [...victim.statuses.keys()].join(', '), '200');
    return figures.verdict;
  },
};
