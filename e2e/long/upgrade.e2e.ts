/** Upgrades and the way back, with the real program of earlier versions: decision 0027 says which ones. */
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import releases from '../../releases.json' with { type: 'json' };
import { type Client, pipelineTo, send, signIn, until } from '../harness/client.ts';
import { checkOut, hasCommit } from '../harness/earlier-version.ts';
import { startReceiver } from '../harness/receiver.ts';
import { onServers, startService } from '../harness/service.ts';

/** It refuses every newer schema, so there is no way back to it. */
const RELEASE_0_1_0 = releases['0.1.0'];
/** The last one in `releases.json`. */
const [PREVIOUS, PREVIOUS_COMMIT] = Object.entries(releases).at(-1)!;

const checkedOut = new Map<string, ReturnType<typeof checkOut>>();
afterAll(() => {
  for (const { folder } of checkedOut.values()) rmSync(folder, { recursive: true, force: true });
});
function earlier(commit: string): string {
  const found = checkedOut.get(commit) ?? checkOut(commit);
  checkedOut.set(commit, found);
  return found.main;
}
const skipped = (commit: string) => (hasCommit(commit) ? '' : ` (skipped: the history has no commit ${commit.slice(0, 8)})`);

describe(`upgrade from ${PREVIOUS}${skipped(PREVIOUS_COMMIT)}`, { skip: !hasCommit(PREVIOUS_COMMIT) }, () => {
  test('this version and the previous release take turns, each on what the other has written', async () => {
    const previous = earlier(PREVIOUS_COMMIT);
    const receiver = await startReceiver();
    const service = await startService({}, { program: previous });
    try {
      const { key, pipeline } = await pipelineTo(await signIn(service), receiver.url);
      const sent = (id: string) => send(service, key, '/v1/t', { type: 'track', event: 'Moved', messageId: id });
      const delivered = async (...ids: string[]) => {
        const all = () => new Set(receiver.events().map((event) => event.event_id));
        await until(`the delivery of ${ids}`, () => ids.every((id) => all().has(id)));
        await explained(await signIn(service), ids);
      };
      await sent('previous-1');
      await delivered('previous-1');
      await service.terminate();

      await service.start();
      await sent('this-1');
      await delivered('previous-1', 'this-1');
      const client = await signIn(service);
      await client.put(`/pipelines/${pipeline.id}`, { retention_days: 3 });
      receiver.answer(() => ({ status: 400 }));
      await sent('this-refused');
      const letter = await until('the dead letter', async () => (await client.get('/dlq')).dead_letters[0]);
      receiver.answer(() => ({}));
      await service.terminate();
      // What this version leaves unfinished: an event that it processed, then one that it only accepted.
      await service.start({ ROLES: 'admin,ingest,process' });
      await sent('this-processed');
      const waiting = await signIn(service);
      await until('the processed event', async () => (await waiting.call('GET', '/events/this-processed')).status === 200);
      await service.terminate();
      await service.start({ ROLES: 'admin,ingest' });
      await sent('this-accepted');
      await service.terminate();

      await service.start({ ROLES: 'admin,ingest,process,deliver' }, previous);
      const back = await signIn(service);
      await sent('previous-2');
      expect((await back.call('POST', `/dlq/${letter.id}/replay`)).status).toBe(202);
      const ids = ['previous-1', 'this-1', 'this-processed', 'this-accepted', 'this-refused', 'previous-2'];
      await delivered(...ids);
      const { body: list } = await back.call('GET', `/events?pipeline_id=${pipeline.id}`);
      expect(list.events.map((event: { event_id: string }) => event.event_id).toSorted()).toEqual(ids.toSorted());
      await changeName(back, pipeline.id, 'Renamed by the previous release');
      await service.terminate();

      await service.start();
      await sent('this-2');
      await delivered(...ids, 'this-2');
      const again = await signIn(service);
      const revisionOf = async (id: string) => (await again.call('GET', `/events/${id}`)).body.deliveries[0].revision_number;
      expect(await Promise.all(['previous-1', 'this-1', 'previous-2', 'this-2'].map(revisionOf))).toEqual([null, 1, null, 1]);
      const renamed = { name: 'Renamed by the previous release', retention_days: 3 };
      expect(await again.get(`/pipelines/${pipeline.id}`)).toMatchObject(renamed);
    } finally {
      await service.stop();
      await receiver.close();
    }
  });

  test.runIf(onServers)('in a rolling upgrade, processes of both versions share the work', async () => {
    const receiver = await startReceiver();
    const service = await startService({}, { program: earlier(PREVIOUS_COMMIT) });
    try {
      const { key } = await pipelineTo(await signIn(service), receiver.url);
      const newer = await service.sibling();
      const ids = Array.from({ length: 40 }, (_, n) => `both-${n}`);
      for (const [n, id] of ids.entries()) {
        const { status } = await send(n % 2 === 0 ? service : newer, key, '/v1/t', { type: 'track', event: 'Moved', messageId: id });
        expect(status).toBe(200);
      }
      await until('every delivery', () => new Set(receiver.events().map((event) => event.event_id)).size === ids.length);
      for (const each of [service, newer]) await explained(await signIn(each), ids);
      await service.terminate();
      await send(newer, key, '/v1/t', { type: 'track', event: 'Moved', messageId: 'after' });
      await explained(await signIn(newer), ['after']);
    } finally {
      await service.stop();
      await receiver.close();
    }
  });
});

describe('upgrade from 0.1.0', () => {
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
