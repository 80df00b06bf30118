/** What is measured: a bare listener, ingest alone, and the whole service with every role in its process. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pipelineTo, signIn } from '../../e2e/harness/client.ts';
import { startService } from '../../e2e/harness/service.ts';
import { NODE_FLAGS } from '../../e2e/harness/start-command.ts';
import { rssAnonMb } from './memory.ts';
import type { OpenLoopResult } from './open-loop.ts';

export interface Target {
  port: number;
  key: string;
  /** A pipeline that nothing else is sent to, so that what it got can be counted. */
  overloadKey: string;
  /** The most private memory so far, in megabytes. */
  memory(): Promise<number>;
  /** How many of the accepted events are not there. */
  lost(prefix: string, result: OpenLoopResult): Promise<number>;
  stop(): Promise<void>;
}
export const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export async function ask<T>(child: ChildProcess, message: unknown): Promise<T> {
  const answer = once(child, 'message');
  child.send(message as object);
  const [value] = (await answer) as [T & { error?: string }];
  if (value.error !== undefined) throw new Error(value.error);
  return value;
}

export async function serverOf(kind: 'bare' | 'ingest'): Promise<Target> {
  // As `npm start` runs the service; the bare server gets the same.
  const child = fork(here('./server.ts'), [kind], { execArgv: NODE_FLAGS });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    key: 'pk_web',
    overloadKey: 'pk_web',
    memory: async () => (await ask<{ memory: number }>(child, 'memory')).memory,
    async lost(prefix, { accepted }) {
      const { stored } = await ask<{ stored: string }>(child, { stored: prefix });
      const there = Buffer.from(stored, 'base64');
      let lost = 0;
      for (const [at, bits] of Buffer.from(accepted, 'base64').entries())
        for (let left = bits & ~(there[at] ?? 0); left !== 0; left &= left - 1) lost++;
      return lost;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}

/** Every role in one process, each event delivered to a webhook in batches of a hundred. */
export async function everyRole(): Promise<Target> {
  const receiver = fork(here('../end-to-end/receiver.ts'));
  const [{ port: receiverPort }] = (await once(receiver, 'message')) as [{ port: number }];
  const service = await startService({ LOG_LEVEL: 'error' });
  const client = await signIn(service);
  const pipeline = () =>
    pipelineTo(client, `http://127.0.0.1:${receiverPort}`, {
      pipeline: { rate_limit_rps: 1_000_000 },
      config: { batch_enabled: true, batch_size: 100, batch_interval_ms: 200 },
    });
  const { key } = await pipeline();
  const overload = await pipeline();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, rssAnonMb(service.pid!));
  }, 100);
  return {
    port: Number(new URL(service.url).port),
    key,
    overloadKey: overload.key,
    memory: async () => peak,
    async lost(_prefix, { acceptedCount }) {
      // Statistics follow processing, which has a backlog to work off.
      let lost = acceptedCount;
      for (let tries = 0; tries < 120 && lost > 0; tries++) {
        const { totals } = await client.get(`/stats?pipeline_id=${overload.pipeline.id}`);
        lost = Math.max(0, acceptedCount - (totals.received as number));
        if (lost > 0) await sleep(1_000);
      }
      return lost;
    },
    async stop() {
      clearInterval(watch);
      await service.stop();
      receiver.disconnect();
    },
  };
}
