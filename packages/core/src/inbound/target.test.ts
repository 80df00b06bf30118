import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { assign } from './target.ts';

test('many names of one object are written into it, without a copy for each', () => {
  const event: JsonObject = {};
  assign(event, 'properties.cart.a', 1);
  const { properties } = event;
  const { cart } = properties as JsonObject;
  assign(event, 'properties.cart.b', 2);
  expect(event.properties).toBe(properties);
  expect((event.properties as JsonObject).cart).toBe(cart);
  expect(event).toEqual({ properties: { cart: { a: 1, b: 2 } } });
});

test("the payload's own objects are not written into", () => {
  const payload = { a: { b: 1 } };
  const event: JsonObject = {};
  assign(event, 'properties', payload);
  for (const name of ['c', 'd']) assign(event, `properties.a.${name}`, 2);
  expect(event).toEqual({ properties: { a: { b: 1, c: 2, d: 2 } } });
  expect(payload).toEqual({ a: { b: 1 } });
});
