import { expect, test } from 'vitest';
import { createResolver, type ResolveAll } from './resolver.ts';

const address = (text: string) => [{ address: text, family: 4 }];
const ask = (resolve: ResolveAll, hostname: string) =>
  new Promise<string>((done) =>
    resolve(hostname, (error, addresses) => done(error?.message ?? addresses.map((one) => one.address).join())),
  );

test('two names whose servers never answer hold up no third one', async () => {
  const resolve = createResolver({
    now: () => performance.now(),
    resolveAll: () => undefined,
    resolveThreadless: (_hostname, done) => done(null, address('192.0.2.9')),
  });
  void ask(resolve, 'dead-1.example');
  void ask(resolve, 'dead-2.example');
  expect(await ask(resolve, 'alive.example')).toBe('192.0.2.9');
});

test('a name that is only in the hosts file is resolved', async () => {
  const waiting: (() => void)[] = [];
  const resolve = createResolver({
    now: () => performance.now(),
    resolveAll: (hostname, done) => {
      if (hostname === 'local.example') done(null, address('192.0.2.1'));
      else waiting.push(() => done(new Error('ETIMEOUT'), []));
    },
    resolveThreadless: (_hostname, done) => done(new Error('ENOTFOUND'), []),
  });
  const slow = [ask(resolve, 'slow-1.example'), ask(resolve, 'slow-2.example')];
  const local = ask(resolve, 'local.example');
  setTimeout(() => waiting.forEach((end) => void end()), 700);
  expect(await local).toBe('192.0.2.1');
  expect(await Promise.all(slow)).toEqual(['ETIMEOUT', 'ETIMEOUT']);
});

test('answers are kept for ten seconds, failures for two', async () => {
  let now = 0;
  let asked = 0;
  const resolve = createResolver({
    now: () => now,
    resolveAll: (hostname, done) => {
      asked++;
      if (hostname === 'bad.example') done(new Error('ENOTFOUND'), []);
      else done(null, address(`192.0.2.${asked}`));
    },
  });
  expect([await ask(resolve, 'a.example'), await ask(resolve, 'a.example')]).toEqual(['192.0.2.1', '192.0.2.1']);
  now = 10_001;
  expect(await ask(resolve, 'a.example')).toBe('192.0.2.2');
  expect([await ask(resolve, 'bad.example'), await ask(resolve, 'bad.example')]).toEqual(['ENOTFOUND', 'ENOTFOUND']);
  expect(asked).toBe(3);
  now += 2_001;
  await ask(resolve, 'bad.example');
  expect(asked).toBe(4);
});
