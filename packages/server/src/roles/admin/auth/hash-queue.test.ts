import { expect, test } from 'vitest';
import { type HashClient, HashQueue } from './hash-queue.ts';

/** A queue whose only slot is taken until `go` is called; notes who ran in which order. */
function occupied(limits: { strangers: number; known: number }) {
  const queue = new HashQueue({ running: 1, ...limits });
  const ran: string[] = [];
  let go = () => {};
  const first = queue.run({ ip: '192.0.2.1', known: false }, () => new Promise<void>((resolve) => (go = resolve)));
  const add = (name: string, client: Partial<HashClient> = {}) =>
    queue
      .run({ ip: '203.0.113.1', known: false, ...client }, async () => {
        ran.push(name);
        return 'ran' as const;
      })
      .catch((error: { code: string }) => error.code);
  return {
    add,
    ran,
    async finish() {
      go();
      await first;
    },
  };
}
const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, at) => make(at));

test('a full queue drops the newest request of the largest network, not the newcomer from another', async () => {
  const { add, ran, finish } = occupied({ strangers: 4, known: 0 });
  const flood = times(4, (n) => add(`flood ${n}`, { ip: `203.0.113.${n}` }));
  const newcomer = add('newcomer', { ip: '198.51.100.1' });
  await finish();
  expect(await newcomer).toBe('ran');
  expect(await Promise.all(flood)).toEqual(['ran', 'ran', 'ran', 'RATE_LIMITED']);
  expect(ran, 'networks take turns').toEqual(['flood 0', 'newcomer', 'flood 1', 'flood 2']);
});

test('within the largest network the busiest address loses its newest request', async () => {
  const { add, finish } = occupied({ strangers: 4, known: 0 });
  const requests = ['203.0.113.1', '203.0.113.2', '203.0.113.2', '203.0.113.3'].map((ip) => add(ip, { ip }));
  void add('newcomer', { ip: '198.51.100.1' });
  await finish();
  expect(await Promise.all(requests)).toEqual(['ran', 'ran', 'RATE_LIMITED', 'ran']);
});

test('requests of the network that fills the queue are rejected', async () => {
  const { add, finish } = occupied({ strangers: 3, known: 0 });
  const flood = times(10, (n) => add(`${n}`));
  await finish();
  expect((await Promise.all(flood)).filter((answer) => answer === 'RATE_LIMITED')).toHaveLength(7);
});

test('known clients have places of their own and go first', async () => {
  const { add, ran, finish } = occupied({ strangers: 2, known: 2 });
  const strangers = times(5, (n) => add(`stranger ${n}`));
  const known = times(3, (n) => add(`known ${n}`, { known: true }));
  await finish();
  expect(await Promise.all(known)).toEqual(['ran', 'ran', 'UNAVAILABLE']);
  expect(await Promise.all(strangers)).toEqual(['ran', 'ran', 'RATE_LIMITED', 'RATE_LIMITED', 'RATE_LIMITED']);
  expect(ran).toEqual(['known 0', 'known 1', 'stranger 0', 'stranger 1']);
});

test('a hash that throws frees its slot', async () => {
  const queue = new HashQueue({ running: 1, strangers: 1, known: 1 });
  const client = { ip: '203.0.113.1', known: false };
  await expect(queue.run(client, () => Promise.reject(new Error('broken hash')))).rejects.toThrow('broken hash');
  expect(await queue.run(client, async () => 'ran')).toBe('ran');
});
