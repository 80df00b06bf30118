import { expect, test, vi } from 'vitest';
import { importInSteps } from '../runtime/import-in-steps.ts';
import { DRIVERS } from './drivers.ts';

vi.mock('../runtime/import-in-steps.ts', async (original) => {
  const { importInSteps: real } = await original<typeof import('../runtime/import-in-steps.ts')>();
  return { importInSteps: vi.fn(real) };
});

test.each([
  ['postgresql', 'pg'],
  ['nats', '@nats-io/jetstream'],
  ['nats', '@nats-io/transport-node'],
  ['redis', '@redis/client'],
  ['mysql', 'mysql2'],
  ['mqtt', 'mqtt'],
  ['sftp', 'ssh2'],
] as const)('%s loads %s in steps: as a whole it holds the loop for more than 20 ms', async (kind, name) => {
  expect(await DRIVERS[kind]()).toBeTypeOf('function');
  expect(importInSteps).toHaveBeenCalledWith(expect.stringContaining(`/node_modules/${name}/`));
});
