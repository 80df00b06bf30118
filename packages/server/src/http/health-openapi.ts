/** Health and metrics in the OpenAPI document. */
import type { OpenApiPaths } from './openapi.ts';

const Readiness = {
  'x-component': 'Readiness',
  type: 'object',
  required: ['status', 'degraded', 'roles'],
  properties: {
    status: { type: 'string', enum: ['ready', 'degraded', 'unavailable', 'stopping'] },
    degraded: { type: 'array', items: { type: 'string', enum: ['database', 'log', 'snapshot'] } },
    roles: { type: 'array', items: { type: 'string', enum: ['admin', 'ingest', 'process', 'deliver'] } },
  },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const get = (operationId: string, summary: string, description: string, responses: object) => ({
  get: { operationId, summary, description, tags: ['Service'], security: [], responses },
});

export const healthPaths: OpenApiPaths = {
  '/healthz': get('getLiveness', 'Is the process alive?', 'For a supervisor: no answer means that the process must be restarted.', {
    200: {
      description: 'The process is alive.',
      ...json({
        'x-component': 'Liveness',
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'string', const: 'alive' } },
      }),
    },
  }),
  '/readyz': get(
    'getReadiness',
    'Can every role of the process work?',
    'For a load balancer: 503 means that the process must get no requests.',
    {
      200: { description: 'Ready. Without its database the process is `degraded` and continues.', ...json(Readiness) },
      503: { description: 'Not ready.', ...json(Readiness) },
    },
  ),
  '/metrics': get('getMetrics', 'Read the metrics', 'Counters, gauges and histograms of this process, in the text format of Prometheus.', {
    200: { description: 'Prometheus text.', content: { 'text/plain': { schema: { type: 'string' } } } },
  }),
};
