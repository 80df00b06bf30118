/** What an operator asks a process, in the OpenAPI document. */
import type { OpenApiPaths } from './openapi.ts';

const Readiness = {
  type: 'object',
  required: ['status', 'degraded', 'roles'],
  properties: {
    status: { type: 'string', enum: ['ready', 'degraded', 'unavailable', 'stopping'] },
    degraded: { type: 'array', items: { type: 'string', enum: ['database', 'log', 'snapshot'] } },
    roles: { type: 'array', items: { type: 'string', enum: ['admin', 'ingest', 'process', 'deliver'] } },
  },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const get = (operationId: string, summary: string, responses: object) => ({
  get: { operationId, summary, tags: ['Service'], security: [], responses },
});

export const healthPaths: OpenApiPaths = {
  '/healthz': get('healthz', 'Is the process alive?', {
    200: {
      description: 'It is.',
      ...json({ type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'alive' } } }),
    },
  }),
  '/readyz': get('readyz', 'Can every role of the process work?', {
    200: { description: 'Yes. Without its database it is `degraded`, and goes on.', ...json(Readiness) },
    503: { description: 'No: take it out of the balancer.', ...json(Readiness) },
  }),
  '/metrics': get('metrics', 'Metrics', {
    200: { description: 'Prometheus text.', content: { 'text/plain': { schema: { type: 'string' } } } },
  }),
};
