import { expect, test } from 'vitest';
import { addressOf, operationsOf } from './operations.ts';

const DOCUMENT = {
  paths: {
    '/v1/t': { post: { operationId: 'track' } },
    '/v1/admin/pipelines/{id}': {
      get: {
        operationId: 'getPipeline',
        summary: 'Read a pipeline',
        tags: ['Pipelines'],
        'x-role': 'viewer',
        parameters: [{ $ref: '#/components/parameters/Id' }, { name: 'if-match', in: 'header' }],
      },
      put: {
        operationId: 'updatePipeline',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Update' } } } },
      },
    },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true } },
    schemas: { Update: { type: 'object', examples: [{ name: 'Web shop' }] } },
  },
};

test('lists the operations of the management API with their parameters and an example of the body', () => {
  expect(operationsOf(DOCUMENT)).toEqual([
    {
      id: 'getPipeline',
      method: 'GET',
      path: '/v1/admin/pipelines/{id}',
      summary: 'Read a pipeline',
      tag: 'Pipelines',
      role: 'viewer',
      parameters: [{ name: 'id', in: 'path', required: true }],
      body: undefined,
    },
    expect.objectContaining({ id: 'updatePipeline', method: 'PUT', parameters: [], body: { name: 'Web shop' } }),
  ]);
});

test('fills in path and query, and leaves out what is empty', () => {
  const parameters = [
    { name: 'id', in: 'path' },
    { name: 'limit', in: 'query' },
    { name: 'q', in: 'query' },
  ];
  expect(addressOf({ path: '/v1/admin/pipelines/{id}', parameters }, { id: 'a/b', q: 'x y', limit: '' })).toBe(
    '/v1/admin/pipelines/a%2Fb?q=x+y',
  );
});
