/**
 * Validates a client's event with hand-written comparisons, because this runs for every event. A null field, an empty id and an empty
 * name count as absent. Faults are constants, so rejecting costs no more than accepting.
 */
import { isObject, own } from '../json.ts';
import type { EventType } from './canonical.ts';
import { parseTimestamp } from './timestamp.ts';

export type CallType = EventType | 'screen' | 'alias';
export interface EventFault {
  code: 'missing_field' | 'validation_failed';
  message: string;
}
/** Requirements of the request path. */
export interface CallRules {
  /** Types the body may name. */
  types: ReadonlySet<string>;
  /** The type of a body without `type`. Undefined if `type` is required. */
  fallback: CallType | undefined;
  pageNameRequired: boolean;
  /** A path for Segment-compatible clients: an identify may be anonymous, and ids may be numbers. */
  compatible: boolean;
}

export const MAX_NAME_LENGTH = 1_024;
export const MAX_MESSAGE_ID_LENGTH = 255;
const MESSAGE_ID = /^[\x20-\x7e]{1,255}$/;

/** `namesVisitor`: whether the request has an anonymous id for events without one, in a cookie or in the context of their batch. */
export function validateEvent(body: unknown, rules: CallRules, namesVisitor?: () => boolean): EventFault | undefined {
  if (!isObject(body)) return NOT_AN_OBJECT;
  const given = own(body, 'type') ?? rules.fallback;
  if (given === undefined || given === '') return MISSING.type;
  if (typeof given !== 'string' || !rules.types.has(given)) return wrongType(rules);
  const properties = own(body, 'properties');
  const context = own(body, 'context');
  if (!absent(properties) && !isObject(properties)) return NOT_OBJECT.properties;
  if (!absent(context) && !isObject(context)) return NOT_OBJECT.context;
  const traits = own(body, 'traits');
  if (!absent(traits) && !isObject(traits)) return NOT_OBJECT.traits;
  const { compatible } = rules;
  if (given === 'identify' && compatible && !hasId(body, 'userId') && !hasAnonymousId(body, context) && namesVisitor?.() !== true)
    return MISSING_BOTH_IDS;
  return (
    id(body, 'userId', given === 'identify' && !compatible, compatible) ??
    id(body, 'anonymousId', false, compatible) ??
    named(body, 'event', given === 'track') ??
    id(body, 'groupId', given === 'group', compatible) ??
    named(body, 'name', given === 'page' && rules.pageNameRequired && !tellsPage(properties, context)) ??
    (given === 'alias' ? alias(body, compatible) : undefined) ??
    time(own(body, 'timestamp')) ??
    messageId(own(body, 'messageId'))
  );
}

type Name = 'userId' | 'anonymousId' | 'event' | 'groupId' | 'name' | 'previousId';

function named(body: Record<string, unknown>, field: Name, required: boolean): EventFault | undefined {
  const value = own(body, field);
  if (absent(value) || value === '') return required ? MISSING[field] : undefined;
  if (typeof value !== 'string') return NOT_TEXT[field];
  return value.length > MAX_NAME_LENGTH ? TOO_LONG[field] : undefined;
}
function id(body: Record<string, unknown>, field: Name, required: boolean, mayBeNumber: boolean): EventFault | undefined {
  return mayBeNumber && typeof own(body, field) === 'number' ? undefined : named(body, field, required);
}
function alias(body: Record<string, unknown>, compatible: boolean): EventFault | undefined {
  return id(body, 'userId', true, compatible) ?? id(body, 'previousId', false, compatible);
}
function hasId(object: Record<string, unknown>, field: string): boolean {
  const value = own(object, field);
  return isText(value) || typeof value === 'number';
}
function hasAnonymousId(body: Record<string, unknown>, context: unknown): boolean {
  return hasId(body, 'anonymousId') || (isObject(context) && hasId(context, 'anonymousId'));
}
function time(value: unknown): EventFault | undefined {
  if (absent(value)) return undefined;
  return typeof value === 'string' && parseTimestamp(value) !== undefined ? undefined : BAD_TIMESTAMP;
}
function messageId(value: unknown): EventFault | undefined {
  if (absent(value)) return undefined;
  return typeof value === 'string' && MESSAGE_ID.test(value) ? undefined : BAD_MESSAGE_ID;
}
function tellsPage(properties: unknown, context: unknown): boolean {
  if (isObject(properties) && (isText(own(properties, 'url')) || isText(own(properties, 'path')))) return true;
  const page = isObject(context) ? own(context, 'page') : undefined;
  return isObject(page) && isText(own(page, 'url'));
}
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
function absent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

const fault = (code: EventFault['code'], message: string): EventFault => Object.freeze({ code, message });
const table = <K extends string>(fields: readonly K[], make: (field: K) => EventFault) =>
  Object.fromEntries(fields.map((field) => [field, make(field)])) as Record<K, EventFault>;

const NAMES = ['userId', 'anonymousId', 'event', 'groupId', 'name', 'previousId'] as const;
const NOT_AN_OBJECT = fault('validation_failed', 'The event must be a JSON object.');
const MISSING = table(['type', ...NAMES] as const, (field) =>
  fault('missing_field', field === 'name' ? 'name is required where no page URL or path is sent.' : `${field} is required.`),
);
const MISSING_BOTH_IDS = fault('missing_field', 'userId or anonymousId is required.');
const NOT_TEXT = table(NAMES, (field) => fault('validation_failed', `${field} must be a string.`));
const TOO_LONG = table(NAMES, (field) => fault('validation_failed', `${field} must have at most ${MAX_NAME_LENGTH} characters.`));
const NOT_OBJECT = table(['properties', 'context', 'traits'] as const, (field) =>
  fault('validation_failed', `${field} must be an object.`),
);
const BAD_TIMESTAMP = fault('validation_failed', 'timestamp must be an ISO 8601 time from 1970 to 9999.');
const BAD_MESSAGE_ID = fault('validation_failed', `messageId must be 1 to ${MAX_MESSAGE_ID_LENGTH} printable ASCII characters.`);

const WRONG_TYPES = new WeakMap<CallRules, EventFault>();
function wrongType(rules: CallRules): EventFault {
  let known = WRONG_TYPES.get(rules);
  if (!known) {
    known = fault('validation_failed', `type must be ${[...rules.types].join(' or ')} here.`);
    WRONG_TYPES.set(rules, known);
  }
  return known;
}
