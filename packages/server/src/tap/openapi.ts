/**
 * The debug socket in the OpenAPI document. It is not a route of the API's router, so it is described by hand, from the socket's own
 * constants.
 */
import type { OpenApiPaths } from '../http/openapi.ts';
import { FILTERS } from './audience.ts';
import { COUNTS_EVERY_MS, MAX_SCOPES } from './counts.ts';
import { TAP_STAGES } from './port.ts';
import { BAD_TOKEN, DEBUG_PATH, EXPIRED_TOKEN, MAX_MESSAGES, TOO_MANY_MESSAGES, TRY_LATER } from './socket.ts';

const text = { type: ['string', 'null'] };
const Frame = {
  'x-component': 'LiveMessage',
  type: 'object',
  required: ['stage'],
  properties: {
    time: { type: 'string', format: 'date-time' },
    seq: { type: 'integer', description: 'Counts the messages of this connection.' },
    stage: { type: 'string', enum: [...TAP_STAGES, 'skipped', 'error', 'heartbeat', 'counts'] },
    pipeline_id: text,
    integration_id: text,
    event_id: text,
    type: text,
    original_type: { type: 'string', enum: ['screen', 'alias'], description: 'Only where the event came as a screen or an alias.' },
    event: text,
    reason: text,
    duration_ms: { type: ['number', 'null'] },
    status: { type: ['integer', 'null'] },
    payload: { description: 'What the stage worked on. Null for a received event where more than 8 MB of events wait to be shown.' },
    scope: { type: 'object', description: 'With `counts`: the scope that they are of, as it was asked for.' },
    counts: {
      type: 'object',
      description:
        'With `counts`: what `GET /v1/admin/stats` answers for the scope with `interval=minute`, for the last five whole minutes and the current one. Zeros are left out. Each message replaces the one before.',
      properties: {
        series: { type: 'array', items: { type: 'object' } },
        totals: { type: 'object' },
        waiting: { type: 'integer' },
        groups: { type: 'array', items: { type: 'object' } },
      },
    },
    count: { type: 'integer', description: 'With `skipped`: how many messages this reader lost because it was too slow.' },
  },
  examples: [
    {
      time: '2026-05-01T12:00:00.000Z',
      seq: 7,
      stage: 'delivered',
      pipeline_id: 'pl_01jv0g3m5w8k2d7c9q4r6t1x0z',
      integration_id: 'int_01jv0g3m5w8k2d7c9q4r6t1x0z',
      event_id: 'order-1001',
      type: 'track',
      event: 'Order Completed',
      reason: null,
      duration_ms: 41,
      status: 200,
      payload: null,
    },
    { stage: 'skipped', count: 12 },
    {
      time: '2026-05-01T12:00:03.000Z',
      stage: 'counts',
      scope: { pipeline_id: 'pl_01jv0g3m5w8k2d7c9q4r6t1x0z' },
      counts: {
        series: [{ time: '2026-05-01T12:00:00.000Z', received: 12, processed: 12, delivered: 23 }],
        totals: { received: 12, processed: 12, delivered: 23 },
        waiting: 1,
      },
    },
  ],
};
const FILTER_WORDS: Record<(typeof FILTERS)[number], string> = {
  pipeline_id: 'Only of this pipeline.',
  integration_id: 'Only of this integration.',
  stage: 'Only of this stage.',
  event: 'Only of this event name.',
};
const query = (name: string, description: string) => ({ name, in: 'query', required: false, description, schema: { type: 'string' } });

export const debugSocketPaths: OpenApiPaths = {
  [DEBUG_PATH]: {
    get: {
      operationId: 'watchLiveEvents',
      tags: ['Live debugging'],
      summary: 'Watch events live (WebSocket)',
      description: [
        'The access token goes into `token`, into the `Authorization` header, or into the pair of subprotocols `bearer, <token>`.',
        `Filters may change later: send \`{"type": "filter", ${FILTERS.map((name) => `"${name}"?`).join(', ')}}\`.`,
        `For the events of several places, send \`{"type": "frames", "scopes": [{${FILTERS.map((name) => `"${name}"?`).join(', ')}}]}\`: at most ${MAX_SCOPES} filters, and a message follows for every event that one of them matches. An empty list ends these messages. With \`frames=none\` there are none until a message asks for them: for a reader of live counts.`,
        `For live counts, send \`{"type": "counts", "scopes": [{"pipeline_id"?, "pipeline_ids"?, "group_by"?}]}\`: at most ${MAX_SCOPES} scopes, each with the parameters of \`GET /v1/admin/stats\`. A message of stage \`counts\` follows for each scope about every ${COUNTS_EVERY_MS / 1_000} seconds, less often where the store is slow. A new list replaces the old one; an empty list ends the counts.`,
        `The socket closes with ${BAD_TOKEN} where the token is not valid, with ${EXPIRED_TOKEN} when it expires, with ${TRY_LATER} where it cannot be served now, with ${TOO_MANY_MESSAGES} after more than ${MAX_MESSAGES.toLocaleString('en-US')} messages of the client in 15 seconds.`,
        'With `heartbeat=true`, `{"stage": "heartbeat"}` is sent once the token is accepted and then every 15 seconds: without one for longer, the connection is lost. Every socket gets protocol pings at the same pace.',
        'Least role: **viewer**.',
      ].join('\n\n'),
      'x-role': 'viewer',
      security: [{ access_token: [] }],
      parameters: [
        query('token', 'The access token, where no header can carry it. It reaches no log.'),
        query('heartbeat', '`true`: heartbeat messages are wanted. Without it there are none.'),
        query('frames', '`none`: no events until a message asks for them.'),
        ...FILTERS.map((name) => query(name, FILTER_WORDS[name])),
      ],
      responses: {
        101: { description: 'Switched to WebSocket: each message is one such object.', content: { 'application/json': { schema: Frame } } },
        426: {
          description: '`UPGRADE_REQUIRED`: asked for without a WebSocket handshake.',
          headers: { Upgrade: { schema: { type: 'string', const: 'websocket' } } },
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Error' },
              examples: {
                UPGRADE_REQUIRED: {
                  value: { error: { code: 'UPGRADE_REQUIRED', message: 'This endpoint accepts only WebSocket connections.' } },
                },
              },
            },
          },
        },
      },
    },
  },
};
