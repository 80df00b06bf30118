import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../../event/canonical.ts';
import { compileMapping } from '../mapping.ts';

const event = (properties: Record<string, unknown>) =>
  ({ event_id: 'e', type: 'track', event: 'A', timestamp: '2026-01-01T00:00:00.000Z', context: {}, properties }) as CanonicalEvent;
function run(config: Record<string, unknown>, parameters: Record<string, unknown>, ...events: CanonicalEvent[]): unknown[] {
  const mapping = compileMapping(config, { default_action: 'drop', parameters });
  if (!mapping.ok) throw new Error(JSON.stringify(mapping.faults));
  return events.map((one) => {
    const result = mapping.run(one, { now: 0 });
    return result.kind === 'payload' ? result.payload : result;
  });
}

test.each([
  [{ field: 'parameters.on', op: 'eq', value: true }, true],
  [{ field: 'parameters.off', op: 'exists' }, false],
  [{ not: { field: 'parameters.off', op: 'exists' } }, true],
  [
    {
      all: [
        { field: 'parameters.on', op: 'eq', value: true },
        { field: 'properties.x', op: 'exists' },
      ],
    },
    true,
  ],
  [
    {
      all: [
        { field: 'parameters.off', op: 'exists' },
        { field: 'properties.x', op: 'exists' },
      ],
    },
    false,
  ],
  [
    {
      any: [
        { field: 'parameters.on', op: 'eq', value: true },
        { field: 'properties.no', op: 'exists' },
      ],
    },
    true,
  ],
  [
    {
      any: [
        { field: 'parameters.off', op: 'exists' },
        { field: 'properties.no', op: 'exists' },
      ],
    },
    false,
  ],
  [{ all: [] }, true],
  [{ any: [] }, false],
])('a condition on parameters is decided at compile time: %j', (when, holds) => {
  const config = {
    events: {
      A: {
        mappings: [
          { value: 1, target: 'a', when },
          { value: 2, target: 'b' },
        ],
      },
    },
  };
  expect(run(config, { on: true }, event({ x: 1 }))).toEqual([holds ? { a: 1, b: 2 } : { b: 2 }]);
});

test('lines that share a condition see it anew for every event', () => {
  const when = { field: 'properties.x', op: 'exists' };
  const line = (target: string) => ({ value: 1, target, when });
  const config = { events: { A: { mappings: [line('a'), line('b'), { value: 0, target: 'c' }] } } };
  expect(run(config, {}, event({ x: 1 }), event({}), event({ x: 1 }))).toEqual([{ a: 1, b: 1, c: 0 }, { c: 0 }, { a: 1, b: 1, c: 0 }]);
});

test('a shared condition sees the event after its enrichments, and enrichments see it before', () => {
  const when = { field: 'properties.x', op: 'exists' };
  const config = {
    events: {
      A: {
        enrichments: [
          { value: 'too late', target: 'properties.y', when },
          { value: 1, target: 'properties.x' },
        ],
        mappings: [
          { value: 1, target: 'a', when },
          { source: 'properties.y', target: 'y', when },
        ],
      },
    },
  };
  expect(run(config, {}, event({}))).toEqual([{ a: 1 }]);
});
