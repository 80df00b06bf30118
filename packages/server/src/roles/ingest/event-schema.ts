/** The schemas of events in the OpenAPI document. A test compares them with `validateEvent`. */
import { type CallRules, MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';
import { ANY_CALL } from '../../intake/call-rules.ts';
import { MAX_BATCH_EVENTS } from '../../intake/parse-batch.ts';

export type Schema = Record<string, unknown>;

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

export const batchSchema: Schema = {
  'x-component': 'EventBatch',
  type: 'object',
  properties: {
    batch: { type: 'array', minItems: 1, maxItems: MAX_BATCH_EVENTS, items: eventSchema(ANY_CALL) },
    context: { ...object, description: 'For every event: the keys that its own context lacks.' },
    integrations: { ...object, description: 'For every event: the entries that its own integrations lack.' },
    sentAt: FIELDS.sentAt,
    writeKey: FIELDS.writeKey,
    cookieId: FIELDS.cookieId,
  },
  required: ['batch'],
  examples: [{ batch: [{ type: 'track', event: 'Order Completed', userId: 'user-42', properties: { total: 42 } }] }],
};
