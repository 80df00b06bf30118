import { validateEvent } from '@firsthand/core/event/validate.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { eventSchema } from './event-schema.ts';
import { collectionPaths } from './openapi.ts';
import { ROUTES, SEGMENT_SETTINGS } from './routes.ts';

type Operation = { operationId: string; summary: string; responses: Record<string, { content: unknown }> };
const operations = Object.entries(collectionPaths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
);

test('every route is documented with its method, and nothing else', () => {
  expect(operations.map(({ path, method }) => [path, method.toUpperCase()])).toEqual(
    [...ROUTES].map(([path, { method }]) => [path, method]),
  );
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.size);
});
test('no two endpoints have the same summary', () => {
  expect(new Set(operations.map(({ operation }) => operation.summary)).size).toBe(ROUTES.size);
});
const SETTINGS = ['200', '401', '403', '503'];
const EVERY = ['200', '400', '401', '403', '405', '413', '429', '500', '503'];
test('every collection endpoint documents the whole error table', () => {
  for (const { path, operation } of operations)
    expect(Object.keys(operation.responses), path).toEqual(
      { '/v1/webhook': ['200', '431', '503'], '/sourceConfig': SETTINGS, [SEGMENT_SETTINGS]: SETTINGS }[path] ?? EVERY,
    );
});
test('the document survives JSON', () => {
  expect(JSON.parse(JSON.stringify(collectionPaths))).toEqual(collectionPaths);
});

const VALID: Record<string, Record<string, unknown>> = {
  track: { event: 'X' },
  page: { name: 'Home' },
  screen: { name: 'Cart' },
  identify: { userId: 'u', anonymousId: 'a' },
  group: { groupId: 'g' },
  alias: { userId: 'u', previousId: 'a' },
};
const TEXTS = ['event', 'name', 'userId', 'anonymousId', 'groupId', 'previousId'];
const FIELDS = ['type', ...TEXTS, 'properties', 'traits', 'context', 'timestamp', 'messageId'];
const VALUES = [undefined, null, '', 'x', 'x'.repeat(1_024), 'x'.repeat(1_025), 'é', '2026-03-01T12:00:00Z', 7, true, [], {}];
/** Rules that a schema of named fields does not express; the descriptions tell them. */
const MORE_THAN_ONE_FIELD = ['userId or anonymousId is required.', 'name is required where no page URL or path is sent.'];

test.each([...ROUTES].filter(([, { kind }]) => kind === 'event'))('the schema of %s is as strict as its validation', (path, { rules }) => {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const fits = ajv.compile(eventSchema(rules));
  const differences: string[] = [];
  // An alias path also takes an identify, a screen path a page: the documented type is the first.
  for (const type of rules.types.size > 2 ? rules.types : [...rules.types].slice(0, 1)) {
    for (const field of FIELDS) {
      for (const value of VALUES) {
        const event: Record<string, unknown> = { type, ...VALID[type], [field]: value };
        if (value === undefined) delete event[field];
        const fault = validateEvent(event, rules);
        // A path of several types has one schema for all: a field that only one of them requires is optional there.
        const told = rules.types.size > 2 || MORE_THAN_ONE_FIELD.includes(fault?.message ?? '') ? fault?.code === 'missing_field' : false;
        // `previousId` means something in an alias only, and null as type is what leaving it out is.
        const stricter = (field === 'previousId' && type !== 'alias') || (field === 'type' && value === null);
        const valid = fits(event);
        if ((valid && fault && !told) || (!valid && !fault && !stricter))
          differences.push(
            `${type} with ${field} ${JSON.stringify(value)?.slice(0, 20)}: ${fault?.message ?? ajv.errorsText(fits.errors)}`,
          );
      }
    }
  }
  expect(differences, path).toEqual([]);
});
