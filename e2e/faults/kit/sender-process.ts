/** A sender in its own process: receives its plan over IPC, runs, and reports the result. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type SenderPlan, startSender } from './sender.ts';

process.on('message', async ({ plan, ms, warmupMs }: { plan: SenderPlan; ms: number; warmupMs: number }) => {
  const sender = startSender(plan);
  await sender.ready;
  await sleep(warmupMs);
  sender.latencies.length = 0;
  sender.statuses.clear();
  const before = sender.accepted.size;
  await sleep(ms);
  await sender.stop();
  process.send?.({
    accepted: sender.accepted,
    counted: sender.accepted.size - before,
    statuses: sender.statuses,
    latencies: sender.latencies,
    broken: sender.broken,
  });
});
process.on('disconnect', () => process.exit(0));
