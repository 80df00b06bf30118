import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { afterAll, expect, test } from 'vitest';
import { createSandbox } from './sandbox.ts';
import { type TransformationTrial, tryTransformation } from './trial-transformation.ts';

// The loop is to be stopped by the interpreter itself, however little time the worker gets.
const sandbox = createSandbox({ limits: { hard_ms: 60_000 } });
afterAll(() => sandbox.stop());
const event: CanonicalEvent = {
  event_id: 'e1',
  type: 'track',
  event: 'A',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: {},
  properties: { n: 1 },
};

const cases: [name: string, input: Omit<TransformationTrial, 'event'>, expected: object][] = [
  [
    'rules',
    { kind: 'rules', rules: [{ type: 'set', target: 'properties.x', value: 2 }] },
    { event: { ...event, properties: { n: 1, x: 2 } }, logs: [], error: null },
  ],
  [
    'a filter drops',
    { kind: 'rules', rules: [{ type: 'filter', condition: { field: 'event', op: 'eq', value: 'B' } }] },
    { event: null, logs: [], error: null },
  ],
  [
    'rules that do not compile',
    { kind: 'rules', rules: [{ type: 'nonsense' } as never] },
    { event: null, error: expect.stringContaining('rules[0]') },
  ],
  [
    'code, with its output',
    { kind: 'code', code: 'function transform(e) { console.log(e.event); e.event = "B"; return e }' },
    { event: { ...event, event: 'B' }, logs: ['A'], error: null },
  ],
  [
    'parameters',
    { kind: 'code', code: 'function transform(e, { parameters }) { e.user_id = parameters.U; return e }', parameters: { U: 'u' } },
    { event: { ...event, user_id: 'u' } },
  ],
  ['code that drops', { kind: 'code', code: 'function transform() { return null }' }, { event: null, logs: [], error: null }],
  [
    'code that throws',
    { kind: 'code', code: 'function transform() { throw new Error("no") }' },
    { event: null, logs: [], error: 'line 1: Error: no' },
  ],
  [
    'code that returns no event',
    { kind: 'code', code: 'function transform() { return 5 }' },
    { event: null, error: 'the code returned a number instead of an event' },
  ],
  ['no code', { kind: 'code' }, { event: null, error: 'code: is required' }],
  ['an endless loop', { kind: 'code', code: 'function transform() { for (;;); }' }, { event: null, error: 'stopped after 50 ms' }],
];
test.each(cases)('%s', async (_name, input, expected) => {
  const before = structuredClone(event);
  expect(await tryTransformation({ ...input, event }, sandbox, 'org_1')).toMatchObject(expected);
  expect(event).toEqual(before);
});
