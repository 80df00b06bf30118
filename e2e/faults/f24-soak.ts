import { setTimeout as sleep } from 'node:timers/promises';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { diskBytes, slope, watchMemory } from './kit/measure.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

const RATE = 600;
const RETENTION_S = 20;
const SWEEP_S = 60;
const MB = 1_048_576;

export const f24: Fault = {
  id: 'F24',
  title: 'soak',
  limit_s: { quick: 150, normal: 320, full: 1_200 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const seconds = scope.by(75, 200, 900);
    const service = await scope.service({
      EVENT_RETENTION: `${RETENTION_S}s`,
      DEAD_LETTER_RETENTION: `${RETENTION_S}s`,
      DEDUP_WINDOW: `${RETENTION_S}s`,
    });
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url);
    const memory = watchMemory(() => service.pid);
    const empty = diskBytes(service.dataDir);
    const filler = `,"context":{"page":{"url":"https://shop.example/${'p'.repeat(200)}"}}`;
    const sender = startSender({
      port: Number(new URL(service.url).port),
      key,
      connections: 16,
      batch: 1,
      prefix: 'soak',
      rate: RATE,
      fields: () => filler,
    });
    // Before the first sweep nothing is freed: everything on disk is live.
    await sleep((SWEEP_S - 5) * 1_000);
    const perEvent = (diskBytes(service.dataDir) - empty) / sender.accepted.size;
    let disk = 0;
    const end = performance.now() + (seconds - SWEEP_S + 5) * 1_000;
    while (performance.now() < end) {
      await sleep(2_000);
      disk = Math.max(disk, diskBytes(service.dataDir));
    }
    const rate = sender.accepted.size / seconds;
    await sender.stop();
    memory.stop();
    await sink.settle(sender.accepted.size, 30_000);
    // Maximum of live data: the retained events plus those that arrive between two sweeps.
    const live = empty + perEvent * rate * Math.min(seconds, RETENTION_S + SWEEP_S);
    const warm = memory.points.filter(({ x }) => x > Math.min(1, seconds / 120));
    figures.tell('events a second', rate);
    // The lower edge of the sawtooth: the heap after each garbage collection.
    const floor = lowest(warm, 10 / 60);
    figures.holds('slope of private memory after warm-up', '< 1 MB/min', slope(floor) < 1, `${slope(floor).toFixed(2)} MB/min`);
    figures.tell('private memory, peak', memory.peak, 'MB');
    figures.tell('live data, peak (by what an event takes before the first sweep)', live / MB, 'MB');
    figures.atMost('disk ÷ peak of live data', disk / live, 1.5, '×');
    compare(figures, sender.accepted, await sink.ids(), { repeatedPercent: 0 });
    return figures.verdict;
  },
};

/** The minimum of each window. */
function lowest(points: { x: number; y: number }[], window: number): { x: number; y: number }[] {
  return [...Map.groupBy(points, ({ x }) => Math.floor(x / window)).values()].map((own) => own.reduce((a, b) => (b.y < a.y ? b : a)));
}
