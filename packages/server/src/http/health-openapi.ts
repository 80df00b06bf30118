/** Health and metrics in the OpenAPI document. */
import type { OpenApiPaths } from './openapi.ts';

const Check = {
  'x-component': 'ReadinessCheck',
  type: 'object',
  required: ['ok'],
  properties: { ok: { type: 'boolean' }, reason: { type: 'string', description: 'Only where the check failed.' } },
};
const Readiness = {
  'x-component': 'Readiness',
  type: 'object',
  required: ['status', 'checks', 'roles'],
  properties: {
    status: { type: 'string', enum: ['ready', 'starting', 'draining', 'unavailable'] },
    checks: {
      type: 'object',
      required: ['store', 'log', 'snapshot'],
      properties: { store: Check, log: Check, snapshot: Check },
    },
    degraded: {
      type: 'array',
      items: { type: 'string', enum: ['database'] },
      description: 'Only where the process is ready without its database.',
    },
    roles: { type: 'array', items: { type: 'string', enum: ['admin', 'ingest', 'process', 'deliver'] } },
  },
};
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const HEADERS_TOO_LARGE = { description: 'URL and headers together are limited to 16 KB. The answer has no body.' };
const get = (operationId: string, summary: string, description: string, responses: object) => ({
  get: { operationId, summary, description, tags: ['Service'], security: [], responses: { ...responses, 431: HEADERS_TOO_LARGE } },
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
      200: {
        description:
          'Ready. A process that handles events continues without its database: `degraded` then names it, and `checks.store` says why.',
        ...json(Readiness),
      },
      503: { description: 'Not ready.', ...json(Readiness) },
    },
  ),
  '/metrics': get('getMetrics', 'Read the metrics', 'Counters, gauges and histograms of this process, in the text format of Prometheus.', {
    200: { description: 'Prometheus text.', content: { 'text/plain': { schema: { type: 'string' } } } },
  }),
};
