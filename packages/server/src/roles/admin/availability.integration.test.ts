import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { startPostgres, type TestServer } from '../../../test/servers/index.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { ensureOwner } from './create-organisation.ts';
import { type Harness, SECRET_KEY, startHarness, type TestOrganisation, testClock } from './testing/harness.ts';

describe('a PostgreSQL that goes away', { tags: ['postgresql'] }, () => {
  let server: TestServer;
  let harness: Harness;
  let org: TestOrganisation;
  beforeAll(async () => {
    // Killed, a server that does not flush would forget the login.
    server = await startPostgres({ durable: true });
    harness = await startHarness({ databaseUrl: server.url });
    org = await harness.newOrganisation();
  });
  afterAll(async () => {
    await server?.restart();
    await harness?.close();
    await server?.stop();
  });

  const call = (method: string, path: string, body?: unknown) => harness.call(method, path, { token: org.owner.token, body });
  async function expectAway(): Promise<void> {
    // The processes behind open connections end a moment after the server.
    await expect.poll(async () => (await call('GET', 'pipelines')).status).toBe(503);
    for (const answer of [await call('GET', 'pipelines'), await call('POST', 'pipelines', { name: 'x' })]) {
      expect([answer.status, answer.body.error.code]).toEqual([503, 'UNAVAILABLE']);
      expect(answer.headers['retry-after']).toBeTruthy();
    }
    const login = await harness.call('POST', 'auth/login', { body: { email: org.owner.email, password: 'x' } });
    expect(login.status).toBe(503);
  }

  test('killed: 503, and back by itself', async () => {
    await server.kill();
    await expectAway();
    await server.restart();
    await expect.poll(async () => (await call('GET', 'pipelines')).status).toBe(200);
    expect((await call('POST', 'pipelines', { name: 'after' })).status).toBe(201);
  });

  test('a frozen server also gives 503, and recovers by itself', async () => {
    // Pausing the server stops only its listener: the processes behind open connections are its children.
    const { pid } = server;
    const backends = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    server.pause();
    for (const backend of backends) signal(backend, 'SIGSTOP');
    try {
      await expectAway();
    } finally {
      for (const backend of backends) signal(backend, 'SIGCONT');
      server.resume();
    }
    await expect.poll(async () => (await call('GET', 'pipelines')).status).toBe(200);
    expect((await call('POST', 'pipelines', { name: 'after the freeze' })).status).toBe(201);
  });
});

/** Some of the server's children, such as those that tidy up, come and go. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

onBothEngines('the first start', (fresh) => {
  test('makes one organisation and one owner, however many start together', async () => {
    const harness = await startHarness({ databaseUrl: await fresh() });
    const deps = { db: harness.store.db, cipher: createCipher(SECRET_KEY), clock: testClock() };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ensureOwner(deps, { email: 'Owner@Localhost', password: undefined })),
    );
    const created = answers.filter((answer) => answer.created);
    expect(created).toHaveLength(1);
    expect(await ensureOwner(deps, { email: 'other@localhost', password: 'another password' })).toEqual({ created: false });
    const { generated_password } = created[0] as { generated_password: string };
    expect((await harness.login('owner@localhost', generated_password)).access_token).toBeTruthy();
    expect(await harness.store.db.selectFrom('users').select('id').execute()).toHaveLength(1);
    await harness.close();
  });
});
