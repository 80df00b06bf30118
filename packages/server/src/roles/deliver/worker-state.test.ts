import { expect, test } from 'vitest';
import { WorkerLife, type WorkerState } from './worker-state.ts';

const STATES: WorkerState[] = ['running', 'resizing', 'draining', 'stopped'];
const PATHS: Record<WorkerState, WorkerState[]> = {
  running: [],
  resizing: ['resizing'],
  draining: ['draining'],
  stopped: ['draining', 'stopped'],
};
const ALLOWED = new Set(['running resizing', 'resizing running', 'running draining', 'resizing draining', 'draining stopped']);

test.each(STATES.flatMap((from) => STATES.map((to) => [from, to] as const)))('from %s to %s', (from, to) => {
  const life = new WorkerLife();
  for (const step of PATHS[from]) life.enter(step);
  expect(life.state).toBe(from);
  if (ALLOWED.has(`${from} ${to}`)) {
    life.enter(to);
    expect(life.state).toBe(to);
  } else {
    expect(() => life.enter(to)).toThrow(`cannot go from ${from} to ${to}`);
    expect(life.state).toBe(from);
  }
});
