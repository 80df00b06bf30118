import { expect, test } from 'vitest';
import { collectionPaths } from './openapi.ts';
import { ROUTES, SEGMENT_SETTINGS } from './routes.ts';

type Operation = { operationId: string; responses: Record<string, { content: unknown }> };
const operations = Object.entries(collectionPaths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation: operation as Operation })),
);

test('every route is documented with its method, and nothing else', () => {
  expect(operations.map(({ path, method }) => [path, method.toUpperCase()])).toEqual(
    [...ROUTES].map(([path, { method }]) => [path, method]),
  );
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.size);
});
const SETTINGS = ['200', '401', '403', '503'];
const EVERY = ['200', '400', '401', '403', '405', '413', '429', '500', '503'];
test('every collection endpoint documents the whole error table', () => {
  for (const { path, operation } of operations)
    expect(Object.keys(operation.responses), path).toEqual(
      { '/v1/webhook': ['200', '503'], '/sourceConfig': SETTINGS, [SEGMENT_SETTINGS]: SETTINGS }[path] ?? EVERY,
    );
});
test('the document survives JSON', () => {
  expect(JSON.parse(JSON.stringify(collectionPaths))).toEqual(collectionPaths);
});
