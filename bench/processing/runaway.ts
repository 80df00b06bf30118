/**
 * Latency of other events beside a runaway transformation, through the whole role: events at a steady rate on a pipeline without code, on
 * another pipeline with code, and of other visitors on the pipeline with the runaway code. Rounds with and without runaways alternate and
 * are summed up by kind.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Bench, ingestAppend, Snapshots } from '@firsthand/server/roles/process/testing/bench.ts';
import { atMost, type BenchResult, figure } from '../result.ts';
import { watchLog } from './watch-log.ts';

const ROUNDS = 4;
const ROUND_MS = 2_500;
/** For each of the three kinds. */
const PER_SECOND = 120;
/** Four per round: the fifth would suspend the code and end the measurement. */
const RUNAWAYS_AT_MS = [200, 700, 1_200, 1_700];
const KINDS = ['a pipeline without code', "another pipeline's code", 'other visitors of its own pipeline'] as const;

export async function runaway(name: string, loop: string): Promise<BenchResult[]> {
  const harmless = 'function transform(event) { event.properties.n += 1; return event }';
  const hanging = `function transform(event) { if (event.properties.hang) { ${loop} } event.properties.n += 1; return event }`;
  const code = (text: string) => [{ kind: 'code' as const, code: text }];
  const bad = Array.from({ length: ROUNDS }, (_, round) => ({ id: `pl_bad_${round}`, transformations: code(hanging) }));
  const snapshots = new Snapshots({}, [{ id: 'pl_plain' }, { id: 'pl_code', transformations: code(harmless) }, ...bad]);
  const bench = await Bench.open(snapshots);
  const began = new Map<string, number>();
  let took: number[][] = [];
  const ended: number[] = [];
  try {
    const log = watchLog(bench.log, (topic, records) => {
      if (topic.startsWith('events.')) for (const { id } of records) arrived(id, performance.now());
    });
    const arrived = (id: string, now: number) => {
      const started = began.get(id);
      if (started !== undefined) took[Number(id.slice(id.lastIndexOf('-') + 1))]!.push(now - started);
      began.delete(id);
    };
    const run: typeof bench.sandbox.run = async (call) => {
      const started = performance.now();
      const result = await bench.sandbox.run(call);
      if (call.event.properties?.hang) ended.push(performance.now() - started);
      return result;
    };
    bench.start({ log, sandbox: { run } });

    let next = 0;
    const send = (pipeline_id: string, kind: number) => {
      const id = `${next++}-${kind}`;
      began.set(`${pipeline_id}:${id}`, performance.now());
      const event = { type: 'track', event: 'E', anonymousId: `visitor-${next % 97}`, properties: { n: next } };
      return bench.log.append([ingestAppend(id, event, { pipeline_id })]);
    };
    const hang = (pipeline_id: string) =>
      bench.log.append([
        ingestAppend(
          `bad-${next++}`,
          { type: 'track', event: 'E', anonymousId: 'the-bad-one', properties: { hang: true } },
          { pipeline_id },
        ),
      ]);
    const steady = async (round: number, hangsAt: readonly number[]): Promise<void> => {
      const pipelines = ['pl_plain', 'pl_code', `pl_bad_${round}`];
      const start = performance.now();
      const under: Promise<unknown>[] = [];
      const due = [...hangsAt];
      for (let i = 0; i < (ROUND_MS / 1_000) * PER_SECOND; i++) {
        const wait = start + (i * 1_000) / PER_SECOND - performance.now();
        if (wait > 0) await sleep(wait);
        if (due[0] !== undefined && performance.now() - start >= due[0]) under.push(hang(pipelines[2]!), Promise.resolve(due.shift()));
        for (const [kind, pipeline] of pipelines.entries()) under.push(send(pipeline, kind));
      }
      await Promise.all(under);
      for (const end = performance.now() + 5_000; began.size > 0 && performance.now() < end; ) await sleep(10);
      if (began.size > 0) throw new Error(`${began.size} events did not arrive`);
    };

    const calm: number[][] = [[], [], []];
    const beside: number[][] = [[], [], []];
    took = [[], [], []];
    await steady(0, []); // warm
    for (let round = 0; round < ROUNDS; round++) {
      took = calm;
      await steady(round, []);
      took = beside;
      await steady(round, RUNAWAYS_AT_MS);
    }
    if (ended.length !== ROUNDS * RUNAWAYS_AT_MS.length) throw new Error(`${ended.length} runs ran away`);
    return [
      atMost(`runaway code (${name}): ended after, the slowest of ${ended.length}`, Math.max(...ended), 'ms', 250),
      ...KINDS.flatMap((kind, i) => [
        figure(`runaway code (${name}): p99 of ${kind}, without it`, p99(calm[i]!), 'ms'),
        atMost(`runaway code (${name}): p99 of ${kind}, beside it, times`, p99(beside[i]!) / p99(calm[i]!), '×', 1.5),
      ]),
    ];
  } finally {
    await bench.close();
  }
}

function p99(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length * 0.99)]!;
}
