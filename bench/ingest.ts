/**
 * Ingest throughput, compared with two floors that read the body and respond 200, a bare `node:http` server and one that writes raw bytes:
 * once with ingest alone in its process, once with every role in it and unbatched delivery. Server and load generator run in separate
 * processes.
 */
import { fork } from 'node:child_process';
import type { LoadPlan, LoadResult } from './ingest/load.ts';
import type { OpenLoopPlan, OpenLoopResult } from './ingest/open-loop.ts';
import { ask, bareServer, everyRole, here, ingestAlone, type Overload, type Target } from './ingest/targets.ts';
import { atLeast, atMost, type BenchResult, figure, median } from './result.ts';
import { undisturbed } from './turns.ts';

/** Servers keep few connections busy; visitors have one each and send little. Requests that wait together share a commit. */
const FEW_CONNECTIONS = 64;
const CONNECTIONS = 256;
const OVERLOAD_CONNECTIONS = 2_000;
const BATCH_OVERLOAD_CONNECTIONS = 500;
const BATCH = 100;
const ROUNDS = 5;
const OVERLOAD = 3;
/** Long enough to outlast the burst that is accepted and its backlog: the figures are those of a sustained overload. */
const OVERLOAD_ONSET_MS = 4_000;
/** A service cannot reject more than a bare server can answer: a rejection costs a little more than that server's response. */
const ANSWERABLE = 0.7;
const WARM_UP_MS = 10_000;
const SINGLE = { path: '/v1/t', connections: CONNECTIONS, batch: 1, warmupMs: 500, durationMs: 2_000 };

export async function run(): Promise<BenchResult[]> {
  const generator = fork(here('./load.ts'));
  const openLoop = fork(here('./open-loop.ts'));
  const bare = await bareServer();
  const raw = await bareServer('raw');
  const load = async (target: Pick<Target, 'port' | 'key'>, plan: Omit<LoadPlan, 'port'>) =>
    (await ask<{ result: LoadResult }>(generator, { ...plan, port: target.port, key: target.key })).result;
  const overload = async (target: Target, plan: Omit<OpenLoopPlan, 'port' | 'key' | 'warmupMs' | 'durationMs'>) =>
    (
      await ask<{ result: OpenLoopResult }>(openLoop, {
        ...plan,
        port: target.port,
        key: target.overloadKey,
        warmupMs: OVERLOAD_ONSET_MS,
        durationMs: 5_000,
      } satisfies OpenLoopPlan)
    ).result;

  async function measure(name: string, target: Target, floor: number): Promise<BenchResult[]> {
    // Warm-up: the first seconds, before the code is compiled, are not measured.
    await load(bare, { ...SINGLE, durationMs: WARM_UP_MS });
    await load(target, { ...SINGLE, durationMs: WARM_UP_MS });
    // Alternating rounds, and their median: the speed of a shared machine changes by the second, for both alike.
    const inTurns = async (plan: Omit<LoadPlan, 'port'>) => {
      const rounds = await undisturbed(ROUNDS, async () => ({
        raw: (await load(raw, plan)).perSecond,
        bare: (await load(bare, plan)).perSecond,
        rate: (await load(target, plan)).perSecond,
      }));
      return {
        rawRate: median(rounds.map((round) => round.raw)),
        bareRate: median(rounds.map((round) => round.bare)),
        rate: median(rounds.map((round) => round.rate)),
        ofRaw: median(rounds.map((round) => round.rate / round.raw)),
        ofBare: median(rounds.map((round) => round.rate / round.bare)),
      };
    };
    const few = await inTurns({ ...SINGLE, connections: FEW_CONNECTIONS });
    const many = await inTurns(SINGLE);
    const { bareRate, rate } = many;
    const batchPlan = { ...SINGLE, path: '/v1/batch', batch: BATCH, connections: 16 };
    const batchRate = median(await undisturbed(ROUNDS, async () => (await load(target, batchPlan)).perSecond * BATCH));
    const half = { ...SINGLE, rate: rate / 2, durationMs: 3_000 };
    // A paced load runs other code than a full one. Compile that first, too.
    await load(bare, half);
    await load(target, half);
    const halves = await undisturbed(ROUNDS, async () => {
      const { p99Ms: bareP99Ms } = await load(bare, half);
      const { p99Ms, refused } = await load(target, half);
      return { addedP99Ms: p99Ms - bareP99Ms, refused };
    });
    const added = halves.map(({ addedP99Ms }) => addedP99Ms);
    const memory = await target.memory();
    const of = (what: string) => `${name}: ${what}`;
    const overloads: Overload[] = [];
    const underOverload: BenchResult[] = [];
    for (const [what, path, batch, connections, capacity, factor] of [
      // Accepting a batch costs far more than rejecting it, so the load can be three times what is accepted.
      ['overload with batches', '/v1/batch', BATCH, BATCH_OVERLOAD_CONNECTIONS, batchRate / BATCH, OVERLOAD],
      ['overload', '/v1/t', 1, OVERLOAD_CONNECTIONS, rate, Math.min(OVERLOAD, (bareRate * ANSWERABLE) / rate)],
    ] as const) {
      const prefix = `${what} ${name} `.replaceAll(' ', '-');
      const result = await overload(target, { path, batch, connections, rate: capacity * factor, prefix });
      overloads.push({ prefix, result });
      underOverload.push(...overloadResults(of(what), result, capacity, factor));
    }
    return [
      ...[
        { connections: FEW_CONNECTIONS, turns: few },
        { connections: CONNECTIONS, turns: many },
      ].flatMap(({ connections, turns }) => [
        figure(of(`bare node:http, ${connections} connections`), turns.bareRate, 'requests/s'),
        figure(of(`raw bytes, ${connections} connections`), turns.rawRate, 'requests/s'),
        figure(of(`single-event durable ingest, ${connections} connections`), turns.rate, 'events/s'),
        atLeast(of(`ingest ÷ bare, ${connections} connections`), turns.ofBare, '×', floor),
        figure(of(`ingest ÷ raw bytes, ${connections} connections`), turns.ofRaw, '×'),
      ]),
      figure(of(`/v1/batch of ${BATCH}`), batchRate, 'events/s'),
      atLeast(of('batch ÷ single'), batchRate / rate, '×', 3),
      atMost(of(`added p99 at half capacity, middle of ${ROUNDS} turns`), median(added), 'ms', 15),
      figure(of('added p99 at half capacity, worst turn'), Math.max(...added), 'ms'),
      atMost(of('refused at half capacity'), Math.max(...halves.map(({ refused }) => refused)), 'requests', 0),
      atMost(of('peak RssAnon under load'), memory, 'MB', 200),
      ...underOverload,
      atMost(of('overload, accepted and lost'), await target.lost(overloads), 'events', 0),
      figure(of(`peak RssAnon with ${OVERLOAD_CONNECTIONS} connections`), await target.memory(), 'MB'),
    ];
  }

  const results: BenchResult[] = [];
  try {
    for (const [name, start, floor] of [
      ['ingest alone', ingestAlone, 0.55],
      ['all roles', everyRole, 0.4],
    ] as const) {
      const target = await start();
      try {
        results.push(...(await measure(name, target, floor)));
      } finally {
        await target.stop();
      }
    }
    return results;
  } finally {
    generator.kill();
    openLoop.kill();
    await bare.stop();
    await raw.stop();
  }
}
function overloadResults(name: string, over: OpenLoopResult, capacity: number, factor: number): BenchResult[] {
  const { 200: _accepted, 429: limited = 0, 503: refused = 0, ...others } = over.byStatus;
  const of = (what: string) => `${name}, ${what}`;
  return [
    atLeast(of('sent ÷ capacity'), over.sentPerSecond / capacity, '×', 0.9 * factor),
    figure(of('accepted ÷ capacity'), over.acceptedPerSecond / capacity, '×'),
    figure(of('accepted p50'), over.acceptedP50Ms, 'ms'),
    atMost(of('accepted p99'), over.acceptedP99Ms, 'ms', 250),
    figure(of('p99 of waiting for a connection'), over.sentLateP99Ms, 'ms'),
    figure(of("p99 of the generator's own delay"), over.tickLateP99Ms, 'ms'),
    figure(of('refused with 429'), limited, 'requests'),
    figure(of('refused with 503'), refused, 'requests'),
    atMost(of(`refused without Retry-After${statusesOf(over.withoutRetryAfter)}`), sum(over.withoutRetryAfter), 'requests', 0),
    atMost(of('other answers'), sum(others), 'requests', 0),
    atMost(of('no answer'), over.unanswered, 'requests', 0),
  ];
}
const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
const statusesOf = (counts: Record<string, number>) =>
  Object.keys(counts)
    .map((status) => `, ${status}`)
    .join('');

if (import.meta.main) console.table(await run());
