/** Upgrades and the way back, with the real program of earlier versions: decision 0027 says which ones. */
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import releases from '../../releases.json' with { type: 'json' };
import { type Client, pipelineTo, send, signIn, until } from '../harness/client.ts';
import { checkOut, hasCommit } from '../harness/earlier-version.ts';
import { startReceiver } from '../harness/receiver.ts';
import { startService } from '../harness/service.ts';

const commits: Partial<Record<string, string>> = releases;
/** It refuses every newer schema, so there is no way back to it. */
const RELEASE_0_1_0 = releases['0.1.0'];
/** The first release that runs on newer schemas, and until the commit of that release is listed, the first program that does. */
const EARLIER = commits['0.2.0'] ?? 'd19f2d5780e1b16c05a1f570f73901083981ef0e';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function earlier(commit: string): string {
  const { main, folder } = checkOut(commit);
  folders.push(folder);
  return main;
}
const skipped = (commit: string) => (hasCommit(commit) ? '' : ` (skipped: the history has no commit ${commit.slice(0, 8)})`);

describe('upgrade', () => {
  test.skipIf(skipped(EARLIER))(`an earlier version and this one take turns on one installation${skipped(EARLIER)}`, async () => {
    const before = earlier(EARLIER);
    const receiver = await startReceiver();
    const service = await startService({}, { program: before });
    try {
      const { key, pipeline } = await pipelineTo(await signIn(service), receiver.url);
      const delivered = async (id: string) => {
        await send(service, key, '/v1/t', { type: 'track', event: 'Moved', messageId: id });
        await until(`the delivery of ${id}`, () => receiver.events().some((event) => event.event_id === id));
      };
      await delivered('earlier-1');
      // On NATS, this version refuses to start while records of the earlier one wait.
      await explained(await signIn(service), ['earlier-1']);
      await service.terminate();
      await service.start();
      await delivered('this-1');
      // Written by this version, in columns that the earlier one does not know.
      const client = await signIn(service);
      await client.put(`/pipelines/${pipeline.id}`, { retention_days: 3 });
      await explained(client, ['earlier-1', 'this-1']);
      await service.terminate();
      await service.start({}, before);
      await delivered('earlier-2');
      await explained(await signIn(service), ['earlier-2']);
      await changeName(await signIn(service), pipeline.id, 'Renamed by the earlier version');
      await service.terminate();
      await service.start();
      await delivered('this-2');
      const again = await signIn(service);
      await explained(again, ['earlier-1', 'this-1', 'earlier-2', 'this-2']);
      expect(await again.get(`/pipelines/${pipeline.id}`)).toMatchObject({ name: 'Renamed by the earlier version', retention_days: 3 });
    } finally {
      await service.stop();
      await receiver.close();
    }
  });

  test.skipIf(skipped(RELEASE_0_1_0))(`release 0.1.0 is upgraded, and refuses the way back${skipped(RELEASE_0_1_0)}`, async () => {
    const before = earlier(RELEASE_0_1_0);
    const receiver = await startReceiver();
    const service = await startService({}, { program: before });
    try {
      const { key } = await pipelineTo(await signIn(service), receiver.url);
      await send(service, key, '/v1/t', { type: 'track', event: 'Moved', messageId: 'released-1' });
      await explained(await signIn(service), ['released-1']);
      await service.terminate();
      await service.start();
      await explained(await signIn(service), ['released-1']);
      await service.terminate();
      await expect(service.start({}, before)).rejects.toThrow(/written by a newer version/);
      await service.start();
      await send(service, key, '/v1/t', { type: 'track', event: 'Moved', messageId: 'this-3' });
      await until('its delivery', () => receiver.events().some((event) => event.event_id === 'this-3'));
    } finally {
      await service.stop();
      await receiver.close();
    }
  });
});

async function changeName(client: Client, id: string, name: string): Promise<void> {
  const { status, body } = await client.call('PUT', `/pipelines/${id}`, { name });
  expect([status, body.name]).toEqual([200, name]);
}
async function explained(client: Client, ids: string[]): Promise<void> {
  for (const id of ids)
    await until(`the trace of ${id}`, async () => {
      const { status, body } = await client.call('GET', `/events/${id}`);
      return status === 200 && body.deliveries?.[0]?.status === 'delivered';
    });
}
