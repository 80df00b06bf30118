import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { finish } from '@firsthand/core/steps.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { expect, test } from 'vitest';
import { compileRehearsal } from './rehearse.ts';

/** Each entry of the list is a request, and repeats the person. */
const vendor = defineVendor({
  key: 'acme',
  name: 'Acme',
  description: 'd',
  category: 'other',
  group: 'custom',
  setup_steps: ['Sign up.'],
  status: 'beta',
  website: 'https://acme.example',
  config_fields: [],
  requests: [{ method: 'POST', url: 'https://api.acme.example/', body: { kind: 'json' }, items: 'properties.list', merge: ['traits'] }],
  default_action: 'pass_through',
  variants: [{ key: 'default', name: 'Default', description: 'd', default_config: {} }],
});

test('the requests of one event are made, masked and read in steps', () => {
  const compiled = compileRehearsal(vendor, {}, {}, { mode: 'production', allow_private: false });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const rehearse = (count: number) => {
    const list = Array.from({ length: count }, (_, n) => ({ n }));
    const event: CanonicalEvent = {
      event_id: 'e',
      type: 'track',
      event: 'Bought',
      timestamp: '2026-01-01T00:00:00.000Z',
      context: {},
      properties: { list },
      traits: { note: 'x'.repeat(10_000) },
    };
    const steps = compiled.rehearse(event, 0);
    let taken = 1;
    while (!steps.next().done) taken++;
    return { taken, result: finish(compiled.rehearse(event, 0)) };
  };
  const [one, many] = [rehearse(1), rehearse(400)];
  expect(one).toMatchObject({ taken: 4, result: { requests: [{ body: { n: 0, note: expect.stringMatching(/^x+$/) } }] } });
  expect(many.result.requests).toHaveLength(400);
  // 4 MB are encoded, and 8 MB masked and read.
  expect(many.taken).toBeGreaterThan(3 + 4_000_000 / 524_288 + 8_000_000 / 300_000);
});
