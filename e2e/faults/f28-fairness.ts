import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, signIn } from '../harness/client.ts';
import type { Service } from '../harness/service.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile } from './kit/measure.ts';
import type { Scope } from './kit/scope.ts';
import { type SenderPlan, startSender } from './kit/sender.ts';

const RATE = 60;
const OTHER = { email: 'other@firsthand.test', password: 'correct-horse-battery' };
const CLI = join(import.meta.dirname, '../../packages/cli/src/firsthand.js');
/** Often hits the soft limit, and allocates constantly. */
const HEAVY =
  'function transform(event) { let s = 0; for (let i = 0; i < 400000; i++) s += [i].length; event.properties.s = s; return event }';
const TEXT = 'a@b.co +49 151 23456789 '.repeat(8_000);
const SETTLE_MS = 3_000;

interface Neighbour {
  name: string;
  plan: Omit<SenderPlan, 'port' | 'key' | 'prefix'>;
  slowVendor?: boolean;
  code?: string;
}
const NEIGHBOURS: readonly Neighbour[] = [
  { name: 'flood', plan: { connections: 16, batch: 20, restMs: 20 } },
  { name: 'large events', plan: { connections: 2, batch: 1, rate: 5, fields: () => `,"context":{"note":"${TEXT}"}` } },
  { name: 'slow vendor', plan: { connections: 8, batch: 1, rate: 500 }, slowVendor: true },
  { name: 'heavy code', plan: { connections: 8, batch: 1, rate: 500 }, code: HEAVY },
  { name: 'all of these', plan: { connections: 16, batch: 20, restMs: 20 }, slowVendor: true, code: HEAVY },
];

export const f28: Fault = {
  id: 'F28',
  title: 'noisy neighbour: one organisation floods, sends large events, runs heavy code and has a slow vendor',
  limit_s: { quick: 240, normal: 420, full: 1_200 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const port = Number(new URL(service.url).port);
    const quiet = await scope.sink();
    const { key } = await scope.pipeline(service, quiet.url);
    const loud = await signInToOther(service);
    const [fast, slow] = [await scope.sink(), await scope.sink({ delayMs: 2_000 })];
    await loud.call('PUT', '/data-layer', { config: { pii_rules: { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'hash' } } });
    const keys = new Map<string, string>();
    for (const { name, slowVendor, code } of NEIGHBOURS) {
      const noisy = await scope.pipeline(service, slowVendor ? slow.url : fast.url, {}, loud);
      keys.set(name, noisy.key);
      if (code === undefined) continue;
      await loud.call('POST', `/pipelines/${noisy.pipeline.id}/transformations`, { name: 'Heavy', kind: 'code', code, enabled: true });
    }
    const victim = startSender({ port, key, connections: 8, batch: 1, prefix: 'quiet', rate: RATE });
    const measure = async (ms: number): Promise<number> => {
      await sleep(SETTLE_MS);
      await quiet.latencies();
      await sleep(ms);
      return percentile(await quiet.latencies(), 0.99);
    };
    await sleep(2_000);
    const [aloneMs, besideMs] = [scope.by(5_000, 12_000), scope.by(8_000, 20_000, 60_000)];
    for (const neighbour of NEIGHBOURS) {
      const alone = await measure(aloneMs);
      const plan = { ...neighbour.plan, port, key: keys.get(neighbour.name) ?? '', prefix: neighbour.name };
      const running = runNeighbour(scope, plan, SETTLE_MS + besideMs);
      const beside = await measure(besideMs);
      const { accepted, statuses } = await running;
      figures.tell(`${neighbour.name}: p99 alone, sent to arrived`, alone, 'ms');
      figures.tell(`${neighbour.name}: p99 beside it`, beside, 'ms');
      figures.tell(`${neighbour.name}: its events accepted`, accepted.size);
      figures.tell(`${neighbour.name}: answers to it`, [...statuses].map(([status, count]) => `${status} × ${count}`).join(', '));
      figures.atMost(`${neighbour.name}: beside ÷ alone`, beside / alone, 1.5, '×');
    }
    await victim.stop();
    figures.equal("answers to the quiet organisation's events", [...victim.statuses.keys()].join(', '), '200');
    return figures.verdict;
  },
};

async function signInToOther(service: Service): Promise<Client> {
  const args = ['org', 'create', '--name', 'Loud', '--owner-email', OTHER.email, '--owner-password', OTHER.password];
  execFileSync(process.execPath, [CLI, ...args], { env: { ...process.env, ...service.env } });
  return signIn(service, OTHER);
}

interface Ended {
  accepted: Set<string>;
  statuses: Map<number, number>;
}
/** In a process of its own: a flood must not delay the quiet organisation's sender. Plans with functions cannot be sent to one. */
async function runNeighbour(scope: Scope, plan: SenderPlan, ms: number): Promise<Ended> {
  if (plan.fields !== undefined) {
    const sender = startSender(plan);
    await sleep(ms);
    await sender.stop();
    return sender;
  }
  const child = scope.child('sender-process.ts');
  child.send({ plan, ms, warmupMs: 0 });
  const [ended] = (await once(child, 'message')) as [Ended];
  child.disconnect();
  return ended;
}
