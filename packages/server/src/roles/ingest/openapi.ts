/** The collection side of the OpenAPI 3.1 document, made from the route and error tables that serve requests. */
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { MAX_BATCH_EVENTS } from '../../intake/parse-batch.ts';
import { batchSchema, eventSchema, type Schema } from './event-schema.ts';
import { ROUTES, type Route, SEGMENT_SETTINGS } from './routes.ts';

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

function errorReplies(codes: readonly CollectionErrorCode[]): Record<string, Schema> {
  const replies: Record<string, Schema> = {};
  for (const status of new Set(codes.map((code) => COLLECTION_ERRORS[code].status))) {
    const here = codes.filter((code) => COLLECTION_ERRORS[code].status === status);
    replies[status] = {
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
  return replies;
}
const json = (schema: Schema) => ({ 'application/json': { schema } });
/** Server pipelines; required where `config.require_signature` is set. `docs/guides/request-signing.md` has examples. */
const SIGNATURE_HEADERS = [
  {
    name: 'X-Timestamp',
    in: 'header',
    required: false,
    description: 'Signed requests of server pipelines: Unix time in milliseconds (seconds are understood), at most 300 s off.',
    schema: { type: 'string', pattern: '^\\d{1,16}$' },
  },
  {
    name: 'X-Signature',
    in: 'header',
    required: false,
    description:
      'Signed requests of server pipelines: `sha256=` and the hex HMAC-SHA256 of `<X-Timestamp>.<raw body>` under the pipeline key secret. ' +
      'The message of a 401 `invalid_signature` says whether it was missing, malformed, stale or wrong.',
    schema: { type: 'string', pattern: '^sha256=[0-9a-fA-F]{64}$' },
  },
];
/** The schemes are defined in the document's components; the empty one is `writeKey` in the body. */
const security = [{ pipeline_key: [] }, { pipeline_key_basic: [] }, { pipeline_key_query: [] }, {}];
const EXAMPLES: Record<string, Schema> = {
  track: { type: 'track', event: 'Order Completed', userId: 'user-42', properties: { order_id: '1001', total: 42, currency: 'EUR' } },
  page: { type: 'page', name: 'Home', properties: { url: 'https://shop.example/', title: 'Shop' } },
  identify: { type: 'identify', userId: 'user-42', traits: { email: 'ada@shop.example' } },
  group: { type: 'group', groupId: 'company-7', traits: { name: 'Shop Ltd' } },
  screen: { type: 'screen', name: 'Basket' },
  alias: { type: 'alias', userId: 'user-42', previousId: 'anonymous-1' },
};
const exampleOf = ({ rules }: Route): Schema => {
  const [type = 'track'] = rules.types;
  return { ...EXAMPLES[type] };
};

/** `TrackEvent`; a path that also takes an event without `type` has a schema of its own. */
function componentOf(route: Route): string {
  const [type = '', ...others] = route.rules.types;
  const name = others.length > 1 ? 'Any' : `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`;
  return `${name}Event${route.rules.fallback === undefined ? '' : 'WithoutType'}`;
}

/** Whose path it is, so that no two summaries are the same. Ours have no note. */
const FORMS: readonly (readonly [path: RegExp, form: string])[] = [
  [/^\/api\/s\/s2s\//, 'Jitsu on servers'],
  [/^\/api\/s\//, 'Jitsu in browsers'],
  [/^\/beacon\//, 'RudderStack in browsers'],
  [/^\/v1\/(track|page|identify|group)$/, 'Segment, RudderStack'],
  [/^\/v1\/import$/, "Segment's import"],
  [/^\/v1\/[sab]$/, 'short path'],
];
function formOf(path: string): string {
  const form = FORMS.find(([pattern]) => pattern.test(path))?.[1];
  return form === undefined ? '' : ` (${form})`;
}

function operation(path: string, route: Route): Schema {
  const operationId = `collect${path
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== 'v1')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')}`;
  const errors = errorReplies(CODES.filter((code) => code !== 'not_found'));
  if (route.kind === 'webhook')
    return {
      post: {
        operationId,
        tags: ['Inbound webhooks'],
        summary: 'Accept a third-party webhook',
        description:
          'Answers 200 to every webhook that it can read, unless the event log is unavailable. Signature and mapping faults are dead-lettered.',
        security: [],
        parameters: [{ name: 'source', in: 'query', required: true, description: 'Id of the webhook source.', schema: { type: 'string' } }],
        requestBody: {
          content: json({ description: "Any JSON in the third party's format.", examples: [{ id: 'evt_1', type: 'charge.succeeded' }] }),
        },
        responses: {
          200: { description: 'Accepted.', content: json(success) },
          431: { description: 'payload_too_large: URL and headers together are limited to 16 KB.', content: json(CollectionError) },
          ...errorReplies(['overloaded']),
        },
      },
    };
  if (route.kind === 'settings')
    return {
      get: {
        operationId,
        tags: ['Collection'],
        summary: `Settings for the browser SDK of ${path === SEGMENT_SETTINGS ? 'Segment' : 'RudderStack'}`,
        description: 'What the SDK loads before it starts: no vendor of theirs, and our own address.',
        security: path === SEGMENT_SETTINGS ? [] : [{ pipeline_key_basic: [] }, { pipeline_key_query: [] }],
        parameters: [
          path === SEGMENT_SETTINGS
            ? { name: 'key', in: 'path', required: true, description: 'The pipeline key.', schema: { type: 'string' } }
            : { name: 'writeKey', in: 'query', required: false, description: 'The pipeline key.', schema: { type: 'string' } },
        ],
        responses: {
          200: { description: 'No vendor of theirs, and our own address.', content: json({ type: 'object', additionalProperties: true }) },
          ...errorReplies(['invalid_pipeline_key', 'pipeline_disabled', 'origin_not_allowed', 'overloaded']),
        },
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
          ...errors,
        },
      },
    };
  const batch = route.kind === 'batch';
  return {
    post: {
      operationId,
      tags: ['Collection'],
      summary: `${batch ? 'Accept a batch of events' : `Accept one ${route.impliedType ?? ''} event`.replace('  ', ' ')}${formOf(path)}`,
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
        ...SIGNATURE_HEADERS,
      ],
      requestBody: {
        required: true,
        content: json(
          batch ? batchSchema : { ...eventSchema(route.rules), 'x-component': componentOf(route), examples: [exampleOf(route)] },
        ),
      },
      responses: { 200: { description: 'Accepted and durable.', content: json(batch ? batchSuccess : success) }, ...errors },
    },
  };
}

export const collectionPaths: Record<string, Schema> = Object.fromEntries(
  [...ROUTES].map(([path, route]) => [path, operation(path, route)]),
);
