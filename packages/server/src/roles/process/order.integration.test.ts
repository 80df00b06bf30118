// @module-tag nats-server
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { endingWithUs, startNats } from '../../../test/servers/index.ts';
import { decodeOutcomes, outcomesTopicSets } from '../../outcomes/outcome-log.ts';
import { connectNats, openJetStreamLog } from '../../stores/event-log/jetstream.ts';
import { ingestAppend, readEvents } from './testing/bench.ts';

const VISITORS = 50;
const EACH = 200;
const POISON = 20;

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

function processor(url: string): { child: ChildProcess; owns: () => number } {
  const [program, ...args] = endingWithUs([process.execPath, fileURLToPath(new URL('./testing/processor-child.ts', import.meta.url)), url]);
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let owned = 0;
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    for (const match of text.matchAll(/owns (\d+)/g)) owned = Number(match[1]);
  });
  undo.push(async () => child.kill('SIGKILL'));
  return { child, owns: () => owned };
}

/** The bound only ends what hangs. */
async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('50 visitors × 200 interleaved events, two processors, one killed midway: in order, none lost, identity kept', async () => {
  const nats = await startNats();
  undo.push(() => nats.stop());
  const connection = await connectNats(nats.url);
  undo.push(() => connection.close());
  const log = await openJetStreamLog({ connection, dedupWindowMs: 600_000, replicas: 1 });
  undo.push(() => log.close());
  const first = processor(nats.url);
  const second = processor(nats.url);
  await until('both own partitions', () => first.owns() >= 4 && second.owns() >= 4 && first.owns() + second.owns() === 16);

  // By record: one whose acknowledgement was late comes to the reader again, and is still one.
  const counts = new Map<string, number>();
  const outcomes = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
  for (const topic of outcomesTopicSets(log).flat()) {
    const counting = log.consume(topic, 'count', { start: 'beginning', maxInFlight: 2_000, maxBatch: 500 }, async (batch) => {
      for (const { record } of batch) counts.set(`${topic} ${record.position}`, decodeOutcomes(record).length);
      await Promise.all(batch.map((delivery) => delivery.ack()));
    });
    undo.push(() => counting.stop());
  }

  for (let n = 0; n < EACH; n++) {
    const appends = Array.from({ length: VISITORS }, (_, visitor) => {
      const anonymousId = `v${visitor}`;
      if (n === 10) return ingestAppend(`${anonymousId}-${n}`, { type: 'identify', anonymousId, userId: `u${visitor}`, properties: { n } });
      return ingestAppend(`${anonymousId}-${n}`, { type: 'track', event: 'T', anonymousId, properties: { n, poison: n % POISON === 7 } });
    });
    await log.append(appends);
    if (n === EACH / 2) first.child.kill('SIGKILL');
  }
  await until('the second owns everything', () => second.owns() === 16);
  await until('every event has its outcome', () => outcomes() >= VISITORS * EACH);
  await new Promise((resolve) => setTimeout(resolve, 500));

  expect(outcomes()).toBe(VISITORS * EACH);
  const events = await readEvents(log, 'pl_1');
  const expected = Array.from({ length: EACH }, (_, n) => n).filter((n) => n % POISON !== 7);
  for (let visitor = 0; visitor < VISITORS; visitor++) {
    const own = events.filter((event) => event.anonymous_id === `v${visitor}`);
    expect(own.map((event) => event.properties!.n)).toEqual(expected);
    expect(own.map((event) => event.user_id)).toEqual(expected.map((n) => (n < 10 ? undefined : `u${visitor}`)));
    expect(new Set(own.map((event) => (event.context.session as { id: string }).id)).size).toBe(1);
  }
});
