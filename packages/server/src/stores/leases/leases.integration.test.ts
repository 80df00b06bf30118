import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { until } from '../event-log/conformance/kit.ts';
import { connectNats } from '../event-log/jetstream.ts';
import { embeddedLeases } from './embedded.ts';
import { openKvLeases } from './jetstream-kv.ts';
import type { Leases } from './port.ts';

const NAMES = Array.from({ length: 8 }, (_, i) => `ingest.${i}`);

/** Who holds what, over all processes of a test; two at once on one name is a fault. */
class Register {
  readonly holders = new Map<string, string>();
  readonly faults: string[] = [];
  of(process: string): string[] {
    return [...this.holders].filter(([, holder]) => holder === process).map(([name]) => name);
  }
  callbacks(process: string, stopMs = 0) {
    return {
      won: async (name: string) => {
        if (this.holders.has(name)) this.faults.push(`${process} won ${name} while ${this.holders.get(name)} held it`);
        this.holders.set(name, process);
      },
      lost: async (name: string) => {
        await sleep(stopMs);
        if (this.holders.get(name) === process) this.holders.delete(name);
      },
    };
  }
}

describe('embedded leases', () => {
  test('are all acquired at once and released at the stop, even if callbacks throw', async () => {
    const errors: unknown[] = [];
    const leases = embeddedLeases({ onError: (error) => errors.push(error) });
    const register = new Register();
    leases.share(NAMES, register.callbacks('a'));
    leases.share(['x'], {
      won: async () => {
        throw new Error('on purpose');
      },
      lost: async () => {},
    });
    await until(() => register.of('a').length === 8 && errors.length === 1);
    await leases.close();
    expect(register.holders.size).toBe(0);
  });
});

describe('leases on JetStream', { tags: ['nats-server'] }, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.stop());

  async function process(): Promise<{ leases: Leases; connection: NatsConnection }> {
    const connection = await connectNats(server.url);
    const leases = openKvLeases({ connection, replicas: 1 });
    onTestFinished(async () => {
      await leases.close();
      await connection.close();
    });
    return { leases, connection };
  }
  let counter = 0;
  const names = () => {
    const run = ++counter;
    return NAMES.map((name) => `${name}.${run}`);
  };

  test('one process holds all leases, a second gets half, and they return when it stops', async () => {
    const register = new Register();
    const shared = names();
    const a = await process();
    a.leases.share(shared, register.callbacks('a'));
    await until(() => register.of('a').length === 8);
    const b = await process();
    const second = b.leases.share(shared, register.callbacks('b', 50));
    await until(() => register.of('a').length === 4 && register.of('b').length === 4);
    await sleep(3_000);
    expect([register.of('a').length, register.of('b').length]).toEqual([4, 4]);
    await second.stop();
    expect(register.of('b')).toEqual([]);
    await until(() => register.of('a').length === 8);
    expect(register.faults).toEqual([]);
  });

  test('leases of a dead process are taken over only after it has stopped using them', async () => {
    const register = new Register();
    const shared = names();
    const a = await process();
    const b = await process();
    a.leases.share(shared, register.callbacks('a'));
    b.leases.share(shared, register.callbacks('b'));
    await until(() => register.of('a').length === 4 && register.of('b').length === 4);
    await a.connection.close();
    await until(() => register.of('b').length === 8);
    expect(register.faults).toEqual([]);
  });

  test('released leases are taken over at once, not with the next turn', async () => {
    const turns: (() => void)[] = [];
    const real = globalThis.setInterval;
    const byHand = (run: () => void, ms?: number) => (ms === 1_000 ? real(() => {}, turns.push(run) * 60_000) : real(run, ms));
    vi.spyOn(globalThis, 'setInterval').mockImplementation(byHand as typeof setInterval);
    onTestFinished(() => void vi.restoreAllMocks());
    const register = new Register();
    const shared = names();
    const a = await process();
    const b = await process();
    const first = a.leases.share(shared, register.callbacks('a'));
    b.leases.share(shared, register.callbacks('b'));
    await until(() => {
      for (const turn of turns) turn();
      return register.of('a').length === 4 && register.of('b').length === 4;
    });
    // From here on no turn comes by itself.
    await first.stop();
    await until(() => register.of('b').length === 8);
    expect(register.faults).toEqual([]);
  });

  test('a frozen broker releases all leases, which are acquired again afterwards', async () => {
    const register = new Register();
    const shared = names();
    const a = await process();
    a.leases.share(shared, register.callbacks('a'));
    await until(() => register.of('a').length === 8);
    server.pause();
    await until(() => register.holders.size === 0);
    server.resume();
    await until(() => register.of('a').length === 8);
    expect(register.faults).toEqual([]);
  });
});
