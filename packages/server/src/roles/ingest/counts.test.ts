import { expect, test } from 'vitest';
import { decodeOutcomes } from '../../outcomes/outcome-log.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type Append, type AppendResult, LogUnavailable } from '../../stores/event-log/port.ts';
import { createCounts } from './counts.ts';

const PIPELINE = { orgId: 'org_1', pipelineId: 'pl_1' };

/** A log whose appends end when they are told to. */
function slowLog() {
  const kept = new Map<string, number>();
  const open: { appends: Append[]; end(error?: Error): void }[] = [];
  return {
    open,
    rejected: () => [...kept.values()].reduce((a, b) => a + b, 0),
    atomic: true,
    append: (appends: Append[]) =>
      new Promise<AppendResult[]>((resolve, reject) => {
        open.push({
          appends,
          end(error) {
            if (error) return reject(error);
            for (const record of appends.flatMap((each) => each.records))
              for (const outcome of decodeOutcomes(record))
                if (outcome.kind === 'ingest_counts') kept.set(record.id, outcome.rejected.rate_limited ?? 0);
            resolve([]);
          },
        });
      }),
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a stop waits for counts being written, including retries', async () => {
  const log = slowLog();
  const counts = createCounts(log, systemClock, { warn: () => undefined });
  counts.rejected('rate_limited', PIPELINE, 3);
  void counts.flush();
  await turn();
  counts.rejected('rate_limited', PIPELINE, 2);
  let stopped = false;
  const stop = counts.stop().then(() => {
    stopped = true;
  });
  await turn();
  expect(log.open).toHaveLength(1);
  log.open[0]!.end(new LogUnavailable('away'));
  await turn();
  expect([stopped, log.open.length]).toEqual([false, 2]);
  log.open[1]!.end();
  await stop;
  expect(log.rejected()).toBe(5);
});
