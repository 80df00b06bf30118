/** The collection side of the OpenAPI 3.1 document, made from the same route and error tables that answer requests. */
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { MAX_BATCH_EVENTS } from '../../intake/parse-batch.ts';
import { ROUTES, type Route } from './routes.ts';

type Schema = Record<string, unknown>;

const text: Schema = { type: ['string', 'null'], maxLength: 1_024 };
const object: Schema = { type: ['object', 'null'], additionalProperties: true };

const FIELDS: Record<string, Schema> = {
  event: { ...text, description: 'Event name; required for track.' },
  name: { ...text, description: 'Page name; required on /v1/p unless properties.url, properties.path or context.page.url tells the page.' },
  userId: { ...text, description: 'Known user id; required for identify.' },
  anonymousId: text,
  groupId: { ...text, description: 'Group id; required for group.' },
  previousId: { ...text, description: 'Alias calls: the id that becomes userId.' },
  properties: object,
  traits: object,
  context: { ...object, description: 'page {url, title, referrer}, userAgent, locale, timezone, consent, challenge_token …' },
  timestamp: { type: ['string', 'null'], format: 'date-time', description: 'ISO 8601; the time of receipt where absent.' },
  sentAt: { type: ['string', 'null'], format: 'date-time', description: 'Corrects a client clock that is more than 60 s off.' },
  messageId: {
    type: ['string', 'null'],
    pattern: '^[\\x20-\\x7e]{1,255}$',
    description: 'Repeats inside DEDUP_WINDOW are not processed again.',
  },
  writeKey: { type: 'string', description: 'The pipeline key, where no header carries it.' },
};
function eventSchema(route: Route): Schema {
  const types = [...route.rules.types];
  return {
    type: 'object',
    properties: { type: { type: 'string', enum: types }, ...FIELDS },
    required: [...(route.rules.fallback === undefined ? ['type'] : []), ...requiredOf(types)],
    additionalProperties: true,
  };
}
function requiredOf(types: string[]): string[] {
  if (types.length > 2) return [];
  const byType: Record<string, string[]> = { track: ['event'], identify: ['userId'], alias: ['userId'], group: ['groupId'] };
  return byType[types[0]!] ?? [];
}

const batchSchema: Schema = {
  'x-component': 'EventBatch',
  type: 'object',
  properties: {
    batch: { type: 'array', minItems: 1, maxItems: MAX_BATCH_EVENTS, items: eventSchema(ROUTES.get('/v1/batch')!) },
    context: object,
    sentAt: FIELDS.sentAt,
    writeKey: FIELDS.writeKey,
  },
  required: ['batch'],
  examples: [{ batch: [{ type: 'track', event: 'Order Completed', userId: 'user-42', properties: { total: 42 } }] }],
};
const success: Schema = { 'x-component': 'Accepted', type: 'object', properties: { success: { const: true } }, required: ['success'] };
const batchSuccess: Schema = {
  'x-component': 'BatchAccepted',
  type: 'object',
  properties: {
    success: { const: true },
    accepted: { type: 'integer' },
    rejected: { type: 'integer' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          index: { type: 'integer' },
          messageId: { type: ['string', 'null'] },
          error: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
  required: ['success', 'accepted', 'rejected', 'errors'],
};

const CODES = Object.keys(COLLECTION_ERRORS) as CollectionErrorCode[];
const RETRIED = new Set([429, 503]);

const CollectionError: Schema = {
  'x-component': 'CollectionError',
  type: 'object',
  properties: { error: { type: 'string', enum: CODES }, message: { type: 'string' } },
  required: ['error', 'message'],
};

function errorAnswers(codes: readonly CollectionErrorCode[]): Record<string, Schema> {
  const answers: Record<string, Schema> = {};
  for (const status of new Set(codes.map((code) => COLLECTION_ERRORS[code].status))) {
    const here = codes.filter((code) => COLLECTION_ERRORS[code].status === status);
    answers[status] = {
      description: here.map((code) => `${code}: ${COLLECTION_ERRORS[code].message}`).join(' '),
      ...(RETRIED.has(status) ? { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } } } : {}),
      content: {
        'application/json': {
          schema: CollectionError,
          examples: Object.fromEntries(here.map((code) => [code, { value: { error: code, message: COLLECTION_ERRORS[code].message } }])),
        },
      },
    };
  }
  return answers;
}
const json = (schema: Schema) => ({ 'application/json': { schema } });
/** The schemes stand in the document's components; the empty one is `writeKey` in the body. */
const security = [{ pipeline_key: [] }, { pipeline_key_basic: [] }, { pipeline_key_query: [] }, {}];
const EXAMPLES: Record<string, Schema> = {
  track: { type: 'track', event: 'Order Completed', userId: 'user-42', properties: { order_id: '1001', total: 42, currency: 'EUR' } },
  page: { type: 'page', name: 'Home', properties: { url: 'https://shop.example/', title: 'Shop' } },
  identify: { type: 'identify', userId: 'user-42', traits: { email: 'ada@shop.example' } },
  group: { type: 'group', groupId: 'company-7', traits: { name: 'Shop Ltd' } },
  screen: { type: 'screen', name: 'Basket' },
  alias: { type: 'alias', userId: 'user-42', previousId: 'anonymous-1' },
};
const exampleOf = (route: Route): Schema => EXAMPLES[[...route.rules.types][0]!] ?? EXAMPLES.track!;

/** `TrackEvent`; a path that also takes an event without `type` has a schema of its own. */
function componentOf(route: Route): string {
  const [type = '', ...others] = route.rules.types;
  const name = others.length > 1 ? 'Any' : `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`;
  return `${name}Event${route.rules.fallback === undefined ? '' : 'WithoutType'}`;
}

function operation(path: string, route: Route): Schema {
  const operationId = `collect${path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== 'v1')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')}`;
  const refusals = errorAnswers(CODES.filter((code) => code !== 'not_found'));
  if (route.kind === 'webhook')
    return {
      post: {
        operationId,
        tags: ['Inbound webhooks'],
        summary: 'Accept a third-party webhook',
        description: 'Always answers 200, unless the event log is unavailable. Signature and mapping faults are dead-lettered.',
        security: [],
        parameters: [{ name: 'source', in: 'query', required: true, description: 'Id of the webhook source.', schema: { type: 'string' } }],
        requestBody: {
          content: json({ description: "Any JSON in the third party's format.", examples: [{ id: 'evt_1', type: 'charge.succeeded' }] }),
        },
        responses: { 200: { description: 'Accepted.', content: json(success) }, ...errorAnswers(['overloaded']) },
      },
    };
  if (route.kind === 'pixel')
    return {
      get: {
        operationId,
        tags: ['Collection'],
        summary: `Accept a ${route.impliedType} event from the query`,
        description:
          'Top-level fields by name, `properties.<name>`, `context.<name>`, or `properties` as JSON. Answers a GIF of one pixel.',
        security: [{ pipeline_key_query: [] }],
        parameters: ['writeKey', 'event', 'name', 'userId', 'anonymousId', 'messageId', 'timestamp', 'properties', 'context'].map(
          (name) => ({
            name,
            in: 'query',
            required: name === 'writeKey',
            description: name === 'writeKey' ? 'The pipeline key.' : `The event's ${name}.`,
            schema: { type: 'string' },
          }),
        ),
        responses: {
          200: { description: 'A GIF of one pixel.', content: { 'image/gif': { schema: { type: 'string', format: 'binary' } } } },
          ...refusals,
        },
      },
    };
  const batch = route.kind === 'batch';
  return {
    post: {
      operationId,
      tags: ['Collection'],
      summary: batch ? 'Accept a batch of events' : `Accept one ${route.impliedType ?? ''} event`.replace('  ', ' '),
      description: batch
        ? `At most ${MAX_BATCH_EVENTS} events. The response lists the rejected ones.`
        : 'A 200 response means that the event is durable.',
      security,
      parameters: [
        {
          name: 'writeKey',
          in: 'query',
          required: false,
          description: 'The pipeline key, where no header carries it.',
          schema: { type: 'string' },
        },
        {
          name: 'X-Challenge-Token',
          in: 'header',
          required: false,
          description: 'For pipelines that require one.',
          schema: { type: 'string' },
        },
        { name: 'X-Timestamp', in: 'header', required: false, description: 'Part of the request signature.', schema: { type: 'string' } },
        {
          name: 'X-Signature',
          in: 'header',
          required: false,
          description: 'The request signature, for server pipelines.',
          schema: { type: 'string' },
        },
      ],
      requestBody: {
        required: true,
        content: json(batch ? batchSchema : { ...eventSchema(route), 'x-component': componentOf(route), examples: [exampleOf(route)] }),
      },
      responses: { 200: { description: 'Accepted and durable.', content: json(batch ? batchSuccess : success) }, ...refusals },
    },
  };
}

export const collectionPaths: Record<string, Schema> = Object.fromEntries(
  [...ROUTES].map(([path, route]) => [path, operation(path, route)]),
);
