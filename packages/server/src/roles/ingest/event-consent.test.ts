import type { JsonObject } from '@firsthand/core/json.ts';
import { expect, test } from 'vitest';
import { consentOf } from './event-consent.ts';

const granted = { consent: { categories: { marketing: true } } };

test.each<[string, event: JsonObject, batch: JsonObject | undefined, gpc: boolean, marketing: boolean]>([
  ['of the event', granted, undefined, false, true],
  ['of the batch', {}, granted, false, true],
  ['the event wins', { consent: { categories: { marketing: false } } }, granted, false, false],
  ['an event that says null says nothing', { consent: null }, granted, false, false],
  ['RudderStack’s, of the batch', {}, { consentManagement: { allowedConsentIds: ['marketing'] } }, false, true],
  ['Global Privacy Control of the request', granted, undefined, true, false],
  ['Global Privacy Control of the batch', granted, { gpc: true }, false, false],
  ['Global Privacy Control of the event', { ...granted, gpc: 1 }, undefined, false, false],
])('consent: %s', (_name, context, batch, gpc, marketing) => {
  const before = structuredClone([context, batch]);
  expect(consentOf({ context }, batch, gpc, undefined)('marketing')).toBe(marketing);
  expect([context, batch]).toEqual(before);
});

test('the context of a batch is not copied for each of its events', () => {
  let copies = 0;
  const batch = new Proxy<JsonObject>(granted, {
    ownKeys(target) {
      copies++;
      return Reflect.ownKeys(target);
    },
  });
  expect(consentOf({}, batch, false, undefined)('marketing')).toBe(true);
  expect(copies).toBe(0);
});
