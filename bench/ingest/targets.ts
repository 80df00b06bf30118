/** The measured programs: two bare listeners, ingest alone, and the service with every role in one process. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pipelineTo, signIn } from '../../e2e/harness/client.ts';
import { startService } from '../../e2e/harness/service.ts';
import { NODE_FLAGS, START_ENV } from '../../e2e/harness/start-command.ts';
import { ingestPartitions } from '../../packages/server/src/partition.ts';
import { openLmdbLog } from '../../packages/server/src/stores/event-log/lmdb.ts';
import { rssAnonMb } from './memory.ts';
import type { OpenLoopResult } from './open-loop.ts';

export interface Target {
  port: number;
  key: string;
  /** A pipeline used only under overload, so that its events can be counted. */
  overloadKey: string;
  /** Peak private memory so far, in MB. */
  memory(): Promise<number>;
  /** How many events accepted under overload are missing. Call it last. */
  lost(overloads: readonly Overload[]): Promise<number>;
  stop(): Promise<void>;
}
export interface Overload {
  prefix: string;
  result: OpenLoopResult;
}
export const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export async function ask<T>(child: ChildProcess, message: unknown): Promise<T> {
  const answer = once(child, 'message');
  child.send(message as object);
  const [value] = (await answer) as [T & { error?: string }];
  if (value.error !== undefined) throw new Error(value.error);
  return value;
}

/** A bare listener, with the flags and environment of `npm start`. `raw` parses and answers without `node:http`. */
export async function bareServer(kind: 'http' | 'raw' = 'http'): Promise<Pick<Target, 'port' | 'key' | 'stop'>> {
  const child = fork(here(kind === 'http' ? './server.ts' : './raw-server.ts'), {
    execArgv: NODE_FLAGS,
    env: { ...process.env, ...START_ENV },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    key: 'pk_web',
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** The service with ingest only. Its pipelines were created before, by a service with all roles. */
export async function ingestAlone(): Promise<Target> {
  const service = await startService({ LOG_LEVEL: 'error' });
  const client = await signIn(service);
  const pipeline = async (name: string) => {
    const { pipeline_key: key } = await client.post('/pipelines', { name, type: 'server', rate_limit_rps: 1_000_000 });
    return key as string;
  };
  const [key, overloadKey] = [await pipeline('Load'), await pipeline('Overload')];
  await service.terminate();
  await service.start({ ROLES: 'ingest' });
  const { peak, stopWatching } = watchMemory(service);
  return {
    port: Number(new URL(service.url).port),
    key,
    overloadKey,
    memory: peak,
    async lost(overloads) {
      await service.terminate();
      let lost = 0;
      for (const { prefix, result } of overloads) {
        const there = await storedIds(join(service.dataDir, 'log'), prefix);
        for (const [at, bits] of Buffer.from(result.accepted, 'base64').entries())
          for (let left = bits & ~(there[at] ?? 0); left !== 0; left &= left - 1) lost++;
      }
      return lost;
    },
    async stop() {
      stopWatching();
      await service.stop();
    },
  };
}
/** One bit per stored event whose id is `prefix` and a number. */
async function storedIds(path: string, prefix: string): Promise<Uint8Array> {
  const log = await openLmdbLog({ path, dedupWindowMs: 86_400_000 });
  let bits = new Uint8Array(1_024);
  for (const topic of ingestPartitions.topics)
    for await (const { id } of log.read(topic, { limit: Number.MAX_SAFE_INTEGER })) {
      const at = id.indexOf(prefix);
      if (at === -1) continue;
      const n = Number(id.slice(at + prefix.length));
      while (n >> 3 >= bits.length) {
        const more = new Uint8Array(bits.length * 2);
        more.set(bits);
        bits = more;
      }
      bits[n >> 3]! |= 1 << (n & 7);
    }
  await log.close();
  return bits;
}
function watchMemory(service: { readonly pid: number | undefined }) {
  let most = 0;
  const timer = setInterval(() => {
    if (service.pid !== undefined) most = Math.max(most, rssAnonMb(service.pid));
  }, 100);
  return { peak: async () => most, stopWatching: () => clearInterval(timer) };
}

/** Every role in one process; each event is delivered to a webhook in a request of its own. */
export async function everyRole(): Promise<Target> {
  const receiver = fork(here('../end-to-end/receiver.ts'));
  const [{ port: receiverPort }] = (await once(receiver, 'message')) as [{ port: number }];
  const service = await startService({ LOG_LEVEL: 'error' });
  const client = await signIn(service);
  const pipeline = () => pipelineTo(client, `http://127.0.0.1:${receiverPort}`, { pipeline: { rate_limit_rps: 1_000_000 } });
  const { key } = await pipeline();
  const overload = await pipeline();
  const { peak, stopWatching } = watchMemory(service);
  return {
    port: Number(new URL(service.url).port),
    key,
    overloadKey: overload.key,
    memory: peak,
    async lost(overloads) {
      const accepted = overloads.reduce((sum, { result }) => sum + result.acceptedCount, 0);
      // Statistics are complete only after processing has caught up.
      let lost = accepted;
      for (let tries = 0; tries < 180 && lost > 0; tries++) {
        const { totals } = await client.get(`/stats?pipeline_id=${overload.pipeline.id}`);
        lost = Math.max(0, accepted - (totals.received as number));
        if (lost > 0) await sleep(1_000);
      }
      return lost;
    },
    async stop() {
      stopWatching();
      await service.stop();
      receiver.disconnect();
    },
  };
}
