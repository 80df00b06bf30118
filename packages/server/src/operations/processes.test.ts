import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { inProcessEphemeral } from '../stores/ephemeral/in-process.ts';
import { type Processes, type ProcessState, watchProcesses } from './processes.ts';

const started: Processes[] = [];
afterEach(() => {
  for (const process of started.splice(0)) process.stop();
});
const ephemeral = inProcessEphemeral();
let now = 0;
const clock = { now: () => now, monotonic: () => now };
const stateOf = (id: string): ProcessState => ({
  id,
  host: 'host',
  pid: 1,
  roles: ['ingest'],
  version: '1.0.0',
  started_at: `2026-05-01T12:00:0${id}.000Z`,
  memory_bytes: 1,
  log_available: true,
  configuration_version: 1,
});
function start(id: string): Processes {
  const processes = watchProcesses({ ephemeral, clock, describe: () => stateOf(id) });
  started.push(processes);
  return processes;
}
const idsOf = (processes: Processes) => processes.list().map(({ id }) => id);
async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn();
}

test('every process knows the others at once, itself first; one that stops is gone, one that is killed after three intervals', async () => {
  const [one, two, three] = [start('1'), start('2'), start('3')];
  await settle();
  expect(idsOf(one)).toEqual(['1', '2', '3']);
  expect(idsOf(three)).toEqual(['3', '1', '2']);
  two.stop();
  await settle();
  expect(idsOf(one)).toEqual(['1', '3']);
  now += 14_000;
  expect(idsOf(one)).toEqual(['1', '3']);
  now += 2_000;
  expect(idsOf(one)).toEqual(['1']);
});
