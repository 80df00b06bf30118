/**
 * An uncaught exception under load, in each role in turn. The process drains and exits with 1. After a restart it delivers every
 * event that was answered 200.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSender } from './faults/kit/sender.ts';
import { type Client, pipelineTo, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

const PRELOAD = `--import=${join(import.meta.dirname, 'harness/throw-inside.ts')}`;
const ROLES = 'packages/server/src/roles';
/** Long, because there are many events and the machine may be slow. */
const PATIENCE_MS = 240_000;

let service: Service;
let receiver: Receiver;
let client: Client;
let key: string;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  client = await signIn(service);
  ({ key } = await pipelineTo(client, receiver.url, { pipeline: { rate_limit_rps: 1_000_000 } }));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

/** On servers `kill -9`, which saves nothing, is in crash.e2e.ts: one role in `npm test`, all in `npm run test:long`. */
const others = onServers ? ['long'] : [];
const UNCAUGHT = /"level":"fatal".*injected into .*uncaught exception, draining and exiting/;
for (const { name, place, tags, said = UNCAUGHT } of [
  { name: 'ingest, after the event is stored and before it is answered', place: `${ROLES}/ingest/store.ts#duplicatesOf@400`, tags: others },
  { name: 'process, while events are committed', place: `${ROLES}/process/commit-processed.ts#settle@20`, tags: [] },
  {
    name: 'deliver, after the vendor answered and before that is settled',
    place: `${ROLES}/deliver/settlement-writer.ts#flush@20`,
    tags: others,
  },
  { name: 'admin, inside a transaction', place: `${ROLES}/admin/write.ts#differences@1`, tags: others },
  {
    name: 'management thread, which ends inside a transaction',
    place: `${ROLES}/admin/write.ts#differences@1!`,
    tags: [],
    said: /"level":"fatal".*the thread of the management API failed, exiting/,
  },
  {
    name: 'thread, which ends while events are committed',
    place: `${ROLES}/process/commit-processed.ts#settle@20!`,
    tags: [],
    said: /"level":"fatal".*the thread of processing and delivery failed, exiting/,
  },
]) {
  // On servers a role has a process and no thread of its own.
  test.skipIf(onServers && said !== UNCAUGHT)(name, { timeout: 1_200_000, tags }, async () => {
    const prefix = name.slice(0, name.indexOf(','));
    await service.terminate();
    await service.start({ NODE_OPTIONS: PRELOAD, THROW_INSIDE: place, ...(said !== UNCAUGHT && { THREADS: '3' }) });
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 8, batch: 1, prefix, rate: 500 });
    if (place.includes('/admin/')) {
      await until('the load', () => sender.accepted.size > 200);
      await client.call('POST', '/pipelines', { name: 'Never acknowledged' }).catch(() => undefined);
    }
    const { code, signal } = await until('the end of the process', () => service.ended(), PATIENCE_MS);
    expect([code, signal]).toEqual([1, null]);
    await until('its reason in the output', () => said.test(service.output()));

    const before = sender.accepted.size;
    await service.start({ NODE_OPTIONS: '', THROW_INSIDE: '' });
    await until('events after the restart', () => sender.accepted.size > before + 200);
    await sender.stop();
    expect(before).toBeGreaterThan(0);
    const missing = new Set(sender.accepted);
    // Each request is parsed once, because the receiver shares this thread.
    await until(
      'every event that was answered 200',
      () => {
        for (const { body } of receiver.requests.splice(0)) missing.delete((JSON.parse(body) as { event_id: string }).event_id);
        return missing.size === 0;
      },
      PATIENCE_MS,
    );
  });
}
