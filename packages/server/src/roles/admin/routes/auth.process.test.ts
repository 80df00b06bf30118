/** Watches the module that compares passwords, which only a process of its own can replace. */
import { expect, test, vi } from 'vitest';
import { startHarness } from '../testing/harness.ts';

const compared = vi.hoisted(() => [] as string[]);
vi.mock('@node-rs/argon2', async (importOriginal) => {
  const real = await importOriginal<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = (hashed, ...rest) => {
    compared.push(String(hashed).split('$').slice(0, 4).join('$'));
    return real.verify(hashed, ...rest);
  };
  return { ...real, verify };
});

test('an unknown e-mail address costs one password comparison, like a known one', async () => {
  const harness = await startHarness();
  const { owner } = await harness.newOrganisation();
  for (const email of [owner.email, 'no-one-here@example.com']) {
    compared.length = 0;
    expect((await harness.call('POST', 'auth/login', { body: { email, password: 'wrong' } })).status).toBe(401);
    expect(compared).toEqual(['$argon2id$v=19$m=19456,t=2,p=1']);
  }
  await harness.close();
});
