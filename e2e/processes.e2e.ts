/** `/installation` names every process: one on the embedded stores, all of them on PostgreSQL and NATS. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, signIn, until } from './harness/client.ts';
import { onServers, type Service, startService } from './harness/service.ts';

let service: Service;
let client: Client;
beforeAll(async () => {
  service = await startService();
  client = await signIn(service);
});
afterAll(() => service?.stop());
const rolesOf = async () => (await client.get('/installation')).processes.map(({ roles, this: own }) => [own, ...[...roles].sort()]);
const ALL = [true, 'admin', 'deliver', 'ingest', 'process'];

describe('the processes of an installation', () => {
  test('the one that answers is there at once, with what it works with', async () => {
    expect(await rolesOf()).toEqual([ALL]);
    const { processes, version, configuration_version } = await client.get('/installation');
    expect(processes).toMatchObject([{ version, log_available: true, host: expect.stringMatching(/.:\d+$/) }]);
    expect(processes[0]?.configuration_version).toBeLessThanOrEqual(configuration_version);
  });

  test.runIf(onServers)('another one appears when it starts and goes when it stops', async () => {
    const other = await service.sibling({ ROLES: 'ingest' });
    const both = await until('both processes', async () => {
      const found = await rolesOf();
      return found.length === 2 && found;
    });
    expect(both).toEqual([ALL, [false, 'ingest']]);
    await other.terminate();
    await until('the one that is left', async () => (await rolesOf()).length === 1);
  });
});
