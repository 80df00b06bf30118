import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { undisturbed } from '../../bench/turns.ts';
import type { Client } from '../harness/client.ts';
import type { Service } from '../harness/service.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { percentile } from './kit/measure.ts';
import { signInToOther } from './kit/other-organisation.ts';
import type { Scope } from './kit/scope.ts';
import { type SenderPlan, startSender } from './kit/sender.ts';

const RATE = 60;
/** Often hits the soft limit, and is suspended then: its events become dead letters. Allocates constantly. */
const HEAVY =
  'function transform(event) { let s = 0; for (let i = 0; i < 400000; i++) s += [i].length; event.properties.s = s; return event }';
/** Stays below the limit, so it is never suspended: the workers have more to do than they can. */
const STEADY =
  'function transform(event) { let s = 0; const end = Date.now() + 30; while (Date.now() < end) s += [s].length; return event }';
const TEXT = 'a@b.co +49 151 23456789 '.repeat(8_000);
/** A process that has just started compiles its code while it works. */
const WARM_MS = 5_000;
const SETTLE_MS = 2_000;
/** Until the neighbour's pipeline is deleted in every role and its backlog dropped. */
const DROP_MS = 3_000;
/** With and without the neighbour in turns: the speed of a shared machine changes. */
const ROUNDS = 2;
const MOST = 1.5;

interface Neighbour {
  name: string;
  plan: Omit<SenderPlan, 'port' | 'key' | 'prefix'>;
  slowVendor?: boolean;
  code?: string;
}
const FLOOD = { connections: 16, batch: 20, restMs: 20 };
/** The rate of the slow vendor and of the heavy code, with neither: what the rate alone costs. Reported, not judged. */
const PLAIN: Neighbour = { name: '500 ordinary events per second', plan: { connections: 8, batch: 1, rate: 500 } };
const NEIGHBOURS: readonly Neighbour[] = [
  PLAIN,
  { name: 'flood', plan: FLOOD },
  { name: 'large events', plan: { connections: 2, batch: 1, rate: 5, fields: () => `,"context":{"note":"${TEXT}"}` } },
  { name: 'slow vendor', plan: { connections: 8, batch: 1, rate: 500 }, slowVendor: true },
  { name: 'heavy code', plan: { connections: 8, batch: 1, rate: 500 }, code: HEAVY },
  { name: 'code of 30 ms', plan: { connections: 8, batch: 1, rate: 500 }, code: STEADY },
  { name: 'all of these', plan: FLOOD, slowVendor: true, code: HEAVY },
];

/** Where a neighbour sends to. */
interface Place {
  service: Service;
  client: Client;
}

/** Milliseconds of each of the quiet organisation's events. */
interface Times {
  /** From the 200 to the arrival at the vendor. */
  accepted: number[];
  /** From sending to the arrival at the vendor. */
  sent: number[];
}

export const f28: Fault = {
  id: 'F28',
  title: 'noisy neighbour: one organisation floods, sends large events, runs heavy code and has a slow vendor',
  limit_s: { quick: 600, normal: 1_500, full: 2_400 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const service = await scope.service();
    const port = Number(new URL(service.url).port);
    const quiet = await scope.sink();
    const { key } = await scope.pipeline(service, quiet.url);
    const same = await placeOf(service);
    // Shares nothing with the quiet organisation but the machine: what no design of the service could keep from it.
    const other = await placeOf(await scope.service());
    const [fast, slow] = [await scope.sink(), await scope.sink({ delayMs: 2_000 })];
    const victim = startSender({ port, key, connections: 8, batch: 1, prefix: 'quiet', rate: RATE, keepTimes: true });
    const [aloneMs, besideMs] = [scope.by(4_000, 5_000, 10_000), scope.by(4_000, 7_000, 30_000)];

    async function measure(ms: number): Promise<Times> {
      await quiet.arrived();
      await sleep(ms);
      const { latencies, arrivals } = await quiet.arrived();
      // The vendor may have the event before the sender has read its 200.
      return { sent: latencies, accepted: Array.from(arrivals, ([id, at]) => Math.max(0, at - (victim.acceptedAt.get(id) ?? at))) };
    }
    /** A pipeline for each round: what is left of it is dropped, and does not run while the quiet organisation is measured alone. */
    async function beside(
      { name, plan, slowVendor, code }: Neighbour,
      { service, client }: Place,
      ms: number,
    ): Promise<Ended & { times: Times }> {
      const port = Number(new URL(service.url).port);
      const { pipeline, key } = await scope.pipeline(service, slowVendor ? slow.url : fast.url, {}, client);
      if (code !== undefined)
        await client.call('POST', `/pipelines/${pipeline.id}/transformations`, { name: 'Heavy', kind: 'code', code, enabled: true });
      await sleep(SETTLE_MS);
      const running = runNeighbour(scope, { ...plan, port, key, prefix: `${name}-${pipeline.id}` }, SETTLE_MS + ms);
      await sleep(SETTLE_MS);
      const times = await measure(ms);
      const ended = await running;
      await client.call('DELETE', `/pipelines/${pipeline.id}`);
      await sleep(DROP_MS);
      return { ...ended, times };
    }

    for (const place of [same, other]) await beside({ name: 'warm', plan: FLOOD }, place, WARM_MS);
    for (const neighbour of NEIGHBOURS) {
      const statuses = new Map<number, number>();
      const rounds = await undisturbed(ROUNDS, async () => {
        const alone = await measure(aloneMs);
        const ended = await beside(neighbour, same, besideMs);
        return { alone, ...ended, elsewhere: (await beside(neighbour, other, besideMs)).times };
      });
      const without = together(rounds.map(({ alone }) => alone));
      const withIt = together(rounds.map(({ times }) => times));
      const withOther = together(rounds.map(({ elsewhere }) => elsewhere));
      for (const { statuses: each } of rounds)
        for (const [status, count] of each) statuses.set(status, (statuses.get(status) ?? 0) + count);
      const { name } = neighbour;
      const answers = [...statuses].map(([status, count]) => `${status} × ${count}`).join(', ');
      figures.tell(`${name}: answers to its requests`, answers);
      for (const [from, of] of [
        ['accepted', (times: Times) => times.accepted],
        ['sent', (times: Times) => times.sent],
      ] as const) {
        const p99 = (times: Times) => percentile(of(times), 0.99);
        const halves = [of(without), of(withIt)].map((values) => percentile(values, 0.5).toFixed(1)).join(' and ');
        figures.tell(
          `${name}: ${from} to delivered, alone and beside it`,
          `p50 ${halves} ms, p99 ${p99(without).toFixed(1)} and ${p99(withIt).toFixed(1)} ms`,
        );
        if (neighbour === PLAIN) figures.tell(`${name}: p99 ${from} to delivered, beside ÷ alone`, p99(withIt) / p99(without), '×');
        else figures.atMost(`${name}: p99 ${from} to delivered, beside ÷ alone`, p99(withIt) / p99(without), MOST, '×');
        figures.tell(`${name}: the same, if it sends to another service on the machine`, p99(withOther) / p99(without), '×');
      }
    }
    await victim.stop();
    figures.equal("answers to the quiet organisation's events", [...victim.statuses.keys()].join(', '), '200');
    return figures.verdict;
  },
};

/** Another organisation of the service, which looks for personal data. */
async function placeOf(service: Service): Promise<Place> {
  const client = await signInToOther(service);
  await client.call('PUT', '/data-layer', { config: { pii_rules: { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'hash' } } });
  return { service, client };
}

function together(each: readonly Times[]): Times {
  return { accepted: each.flatMap(({ accepted }) => accepted), sent: each.flatMap(({ sent }) => sent) };
}

interface Ended {
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
