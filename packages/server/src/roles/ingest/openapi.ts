/** The collection side of the OpenAPI 3.1 document, made from the route and error tables that serve requests. */

import { type CallRules, MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { ANY_CALL } from '../../intake/call-rules.ts';
import { MAX_BATCH_EVENTS } from '../../intake/parse-batch.ts';
import { ROUTES, type Route, SEGMENT_SETTINGS } from './routes.ts';

type Schema = Record<string, unknown>;

const TEXT: Schema = { type: ['string', 'null'], maxLength: MAX_NAME_LENGTH };
const REQUIRED_TEXT: Schema = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH };
const object: Schema = { type: ['object', 'null'], additionalProperties: true };
/** Choices instead of a list of types: generators for typed languages know no value of several types. */
const NUMBER_OR_TEXT: Schema = { anyOf: [TEXT, { type: 'number' }] };
const NUMBER_OR_REQUIRED_TEXT: Schema = { anyOf: [REQUIRED_TEXT, { type: 'number' }] };

const FIELDS: Record<string, Schema> = {
  event: { ...TEXT, description: 'Event name; required for track.' },
  name: { ...TEXT, description: 'Page name; required on /v1/p unless properties.url, properties.path or context.page.url tells the page.' },
  properties: object,
  traits: object,
  context: { ...object, description: 'page {url, title, referrer}, userAgent, locale, timezone, consent, challenge_token …' },
  timestamp: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'ISO 8601. Where absent: originalTimestamp, else the time of receipt.',
  },
  originalTimestamp: { type: ['string', 'null'], format: 'date-time', description: 'Used where timestamp is absent.' },
  sentAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the client sent the request. Corrects a client clock that is more than 60 s off.',
  },
  messageId: {
    type: ['string', 'null'],
    pattern: '^[\\x20-\\x7e]{1,255}$',
    description: 'Repeats inside DEDUP_WINDOW are not processed again.',
  },
  integrations: {
    ...object,
    description: 'Which integrations may get the event: false or true by vendor key, vendor name or integration id; All for the rest.',
  },
  writeKey: { type: 'string', description: 'The pipeline key, where no header carries it.' },
  cookieId: {
    type: ['string', 'null'],
    description: 'The visitor’s id when the request was sent, for the `_df_id` cookie. Where absent: the anonymous id of the last event.',
  },
};
function idFields(compatible: boolean): Record<string, Schema> {
  const id = compatible ? NUMBER_OR_TEXT : TEXT;
  return {
    userId: { ...id, description: `Known user id; required for identify${compatible ? ' without an anonymousId' : ''} and alias.` },
    anonymousId: { ...id, description: 'Id of the visitor.' },
    groupId: { ...id, description: 'Group id; required for group.' },
    previousId: { ...id, description: 'Alias calls: the id that becomes userId.' },
  };
}
/** Exported for a test that compares it with `validateEvent`. */
export function eventSchema({ types, fallback, compatible }: CallRules): Schema {
  const [type] = types;
  const properties: Record<string, Schema> = {
    type: { type: 'string', enum: [...types] },
    ...FIELDS,
    ...idFields(compatible),
  };
  const required = types.size > 2 ? [] : requiredFields(type, compatible);
  for (const field of required) {
    const { description } = properties[field] ?? {};
    properties[field] = { ...(compatible && field !== 'event' ? NUMBER_OR_REQUIRED_TEXT : REQUIRED_TEXT), description };
  }
  return { type: 'object', properties, required: [...(fallback === undefined ? ['type'] : []), ...required], additionalProperties: true };
}
function requiredFields(type: string | undefined, compatible: boolean): string[] {
  if (type === 'track') return ['event'];
  if (type === 'group') return ['groupId'];
  return type === 'alias' || (type === 'identify' && !compatible) ? ['userId'] : [];
}

const batchSchema: Schema = {
  'x-component': 'EventBatch',
  type: 'object',
  properties: {
    batch: { type: 'array', minItems: 1, maxItems: MAX_BATCH_EVENTS, items: eventSchema(ANY_CALL) },
    context: object,
    sentAt: FIELDS.sentAt,
    writeKey: FIELDS.writeKey,
    cookieId: FIELDS.cookieId,
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
