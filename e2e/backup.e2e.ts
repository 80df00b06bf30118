/** A backup of a running service goes on in another folder, as on another machine. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { startService } from './harness/service.ts';

const MAIN = join(import.meta.dirname, '../packages/cli/src/firsthand.js');
const SECRET_KEY = 'the-same-key-on-both-machines-01';
const folder = mkdtempSync(join(tmpdir(), 'firsthand-moved-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function firsthand(dataDir: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, DATA_DIR: dataDir, SECRET_KEY } });
}
async function delivered(client: Client, id: string) {
  return await until(`the delivery of ${id} in its trace`, async () => {
    const { status, body } = await client.call('GET', `/events/${id}`);
    return status === 200 && body.deliveries[0]?.status === 'delivered' && body;
  });
}

test('a service restored elsewhere has the traces and delivers what waited', async () => {
  const [here, elsewhere, backup] = [join(folder, 'here'), join(folder, 'elsewhere'), join(folder, 'backup')];
  const receiver = await startReceiver();
  const first = await startService({ SECRET_KEY }, { servers: false, dataDir: here });
  try {
    const client = await signIn(first);
    const config = { authentication: 'bearer', auth_token: 'sealed-under-the-key' };
    const { key } = await pipelineTo(client, receiver.url, { config });
    await send(first, key, '/v1/t', { type: 'track', event: 'Delivered', messageId: 'before', userId: 'u1' });
    await delivered(client, 'before');
    receiver.answer(() => 'hang');
    await send(first, key, '/v1/t', { type: 'track', event: 'Waiting', messageId: 'waiting' });
    await until('the attempt that gets no answer', () => receiver.events().some((event) => event.event_id === 'waiting'));
    await firsthand(here, 'backup', '--to', backup);
  } finally {
    await first.stop();
  }
  // Nothing of the first machine is left.
  rmSync(here, { recursive: true });
  receiver.requests.length = 0;
  receiver.answer(() => ({}));
  await firsthand(elsewhere, 'restore', '--from', backup);
  const second = await startService({ SECRET_KEY }, { servers: false, dataDir: elsewhere });
  try {
    const client = await signIn(second);
    expect(await delivered(client, 'before')).toMatchObject({ user_id: 'u1', event: { event: 'Delivered' }, status: 'processed' });
    await delivered(client, 'waiting');
    expect(receiver.events().map((event) => event.event_id)).toEqual(['waiting']);
    expect(receiver.requests[0]?.headers).toMatchObject({ authorization: 'Bearer sealed-under-the-key' });
  } finally {
    await second.stop();
    await receiver.close();
  }
});
