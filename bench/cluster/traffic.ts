/** The load generator and the webhook receiver, each in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Count, request } from '../end-to-end.ts';
import type { LoadPlan, LoadResult } from '../ingest/load.ts';

export interface Traffic {
  /** The receiver's address. */
  target: string;
  load(plan: LoadPlan): Promise<LoadResult>;
  ask(message: 'count' | 'reset'): Promise<Count>;
  /** Resolves when nothing has arrived for two seconds. `arrived` is called after each look that found new events. */
  untilDelivered(arrived?: () => void): Promise<Count>;
  close(): void;
}
const LOOK_MS = 100;
const SILENT_MS = 2_000;

export async function startTraffic(): Promise<Traffic> {
  const here = (path: string) => join(import.meta.dirname, '..', path);
  const receiver = fork(here('end-to-end/receiver.ts'));
  const generator = fork(here('ingest/load.ts'));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const ask: Traffic['ask'] = (message) => request<Count>(receiver, message);
  return {
    target: `http://127.0.0.1:${port}`,
    load: async (plan) => (await request<{ result: LoadResult }>(generator, plan)).result,
    ask,
    async untilDelivered(arrived) {
      let [last, since] = [-1, performance.now()];
      for (;;) {
        const count = await ask('count');
        if (count.events !== last) {
          [last, since] = [count.events, performance.now()];
          arrived?.();
        } else if (performance.now() - since > SILENT_MS) return count;
        await sleep(LOOK_MS);
      }
    },
    close() {
      for (const child of [receiver, generator]) child.disconnect();
    },
  };
}
