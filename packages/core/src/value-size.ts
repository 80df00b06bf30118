/**
 * Bounds for what expressions, transforms and rules make of an event. Without them a few dozen rules that double a text fill the memory of
 * the process, which all organisations share.
 */
import { put } from './json.ts';
import type { Steps } from './steps.ts';

/** Longest text that an expression or a transform makes, in characters. A longer one counts as missing. */
export const MAX_TEXT = 1_048_576;
/** Most that the rules of one transformation, or the steps of one mapping, may write into an event. */
export const MAX_WRITTEN = 4_194_304;
export const WROTE_TOO_MUCH = 'the event became larger than 4 MB';
export const READ_TOO_MUCH = 'the rules read more than 8 MB of the event';
/** A mapping of version 2. The part before the colon is the name of the reason. */
export const PAYLOAD_TOO_LARGE = 'payload_too_large: the mapping makes more than 4 MB of this event, or reads more than 8 MB of it';

/** All requests of one event together. A list of items may repeat parts of the event in each. */
export const MAX_REQUESTS = 4 * MAX_WRITTEN;
export const REQUESTS_TOO_LARGE = 'payload_too_large: the requests of this event are larger than 16 MB together';

/** Undefined for a text that is too long. */
export function bounded<T>(value: T): T | undefined {
  return typeof value === 'string' && value.length > MAX_TEXT ? undefined : value;
}

/** The length is known before the text is made. */
export function joined(parts: readonly string[], separator: string): string | undefined {
  let length = separator.length * Math.max(0, parts.length - 1);
  for (const part of parts) length += part.length;
  return length > MAX_TEXT ? undefined : parts.join(separator);
}

/** Roughly the characters of the value's JSON text. Stops counting above `limit`: a value that is used in many places counts in each. */
export function weigh(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + SCALAR;
  if (typeof value !== 'object' || value === null) return SCALAR;
  let sum = SCALAR;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && sum <= limit; i++) sum += weigh(value[i], limit - sum);
    return sum;
  }
  for (const key of Object.keys(value)) {
    sum += key.length + weigh((value as Record<string, unknown>)[key], limit - sum);
    if (sum > limit) break;
  }
  return sum;
}
const SCALAR = 4;

/**
 * What the mapping or the rules of the current event may still do. They run synchronously from start to end, so one record is enough.
 * Without a limit outside of them.
 */
let toWrite = Number.POSITIVE_INFINITY;
let toRead = Number.POSITIVE_INFINITY;

/** Characters that transforms, templates and paths of one event may read: some 25 ms. Other work is counted as characters. */
const MAX_READ = 8 * MAX_TEXT;
/** Of a list, of an object, and of an object that a transform makes. */
const PER_ELEMENT = 24;
const PER_FIELD = 96;
const PER_NEW_FIELD = 150;
/** Writing a fraction takes as long as reading this many characters. */
const PER_DECIMAL = 60;
/** Listing the names of an object with more fields takes twice as long for each. */
export const MANY_FIELDS = 10_000;
/** Smaller events have no object with so many fields. */
const MANY_FIELDS_BYTES = 6 * MANY_FIELDS;
let hasManyFields = false;

/** Copying a field takes as long as reading this many characters, in an object with many fields longer. */
const PER_COPIED_FIELD = 48;
const PER_COPIED_FIELD_OF_MANY = 100;
/** Copies of smaller events are not counted: a thousand of them take a few milliseconds. */
const COUNTS_COPIES = 2_048;
let areCopiesCounted = false;
/** The containers that were copied for the current event. Nothing else refers to them, so further writes need no copy. */
let copies: Set<object> | undefined;

/** All that undivided work may do: some 6 ms. */
const ONE_STEP_READ = 2 * MAX_TEXT;
const ONE_STEP_WRITTEN = MAX_TEXT;
/** What a step of divided work does before it yields: some 2 ms, three times as much before V8 has optimised the code. */
const STEP_READ = MAX_TEXT / 2;
const STEP_WRITTEN = MAX_TEXT / 4;
/** The step is long once less than this is left. */
let stepReadTo = Number.NEGATIVE_INFINITY;
let stepWriteTo = Number.NEGATIVE_INFINITY;

/** The event's own size raises the limits where an installation accepts larger events than by default. Always call `endQuota` after it. */
export function startQuota(bytes: number, write = MAX_WRITTEN): void {
  toWrite = Math.max(write, 4 * bytes);
  toRead = Math.max(MAX_READ, 8 * bytes);
  areCopiesCounted = bytes > COUNTS_COPIES;
  hasManyFields = bytes > MANY_FIELDS_BYTES;
}
/** The same for work that is done again in steps if it exceeds one. */
export function startStepQuota(bytes: number): void {
  startQuota(bytes);
  toWrite = ONE_STEP_WRITTEN;
  toRead = ONE_STEP_READ;
}
export function endQuota(): void {
  toWrite = Number.POSITIVE_INFINITY;
  toRead = Number.POSITIVE_INFINITY;
  areCopiesCounted = false;
  hasManyFields = false;
  copies = undefined;
}
/** Divided work with a quota. Between its steps other events have theirs. */
export function* quotaInSteps<T>(bytes: number, write: number, steps: Steps<T>): Steps<T> {
  let left: { toWrite: number; toRead: number; copies: typeof copies } | undefined;
  for (;;) {
    startQuota(bytes, write);
    if (left) ({ toWrite, toRead, copies } = left);
    stepReadTo = toRead - STEP_READ;
    stepWriteTo = toWrite - STEP_WRITTEN;
    let step: IteratorResult<undefined, T>;
    try {
      step = steps.next();
      left = { toWrite, toRead, copies };
    } finally {
      endQuota();
      stepReadTo = Number.NEGATIVE_INFINITY;
      stepWriteTo = Number.NEGATIVE_INFINITY;
    }
    if (step.done) return step.value;
    yield;
  }
}
/** Whether divided work should yield. Once the quota is spent there is no reason to go on. */
export function isStepLong(): boolean {
  return toRead < stepReadTo || toWrite < stepWriteTo;
}
/** Call before the work. False once there is no quota left: then do without it. */
export function mayRead(amount: number): boolean {
  toRead -= amount;
  return toRead >= 0 && toWrite >= 0;
}
/** The same for the elements of a list. */
export function mayReadList({ length }: readonly unknown[]): boolean {
  return mayRead(PER_ELEMENT * length);
}
/** The same for the fields of an object. */
export function mayReadFields(count: number): boolean {
  return mayRead(PER_FIELD * count);
}
/** False for most events: then no object needs to be asked how many fields it has. */
export function mayHaveManyFields(): boolean {
  return hasManyFields;
}
/** The same for copying an object with so many fields. */
export function mayCopyFields(count: number): boolean {
  return mayRead(PER_ELEMENT + (count > MANY_FIELDS ? PER_COPIED_FIELD_OF_MANY : PER_COPIED_FIELD) * count);
}
/** Call for new values, and for one that is used many times. */
export function mayWrite(amount: number): boolean {
  toWrite -= amount;
  return toWrite >= 0;
}
export function isQuotaSpent(): boolean {
  return toWrite < 0 || toRead < 0;
}
export function quotaLeft(): number {
  return toWrite;
}

/** False for small events: they are copied without a further look. */
export function countsCopies(): boolean {
  return areCopiesCounted;
}
/** A copy of an object or a list. An empty one where the quota is spent: the event fails then. */
export function shallowCopy<T extends object>(value: T): T {
  const isList = Array.isArray(value);
  if (!areCopiesCounted) return (isList ? value.slice() : { ...value }) as T;
  const copy = (isList ? (mayReadList(value) ? value.slice() : []) : copyOfFields(value as Record<string, unknown>)) as T;
  copies ??= new Set();
  copies.add(copy);
  return copy;
}
function copyOfFields(value: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(value);
  if (!mayCopyFields(names.length)) return {};
  if (names.length <= MANY_FIELDS) return { ...value };
  // The spread of so many takes twice as long.
  const copy: Record<string, unknown> = {};
  for (const name of names) put(copy, name, value[name]);
  return copy;
}
/** Without a copy where `shallowCopy` made the value for the current event: a thousand writes to one object copy it once. */
export function writable<T extends object>(value: T): T {
  return copies?.has(value) ? value : shallowCopy(value);
}
/** Call before an object or a list becomes part of the event: it may be one of the copies, or contain one. */
export function forgetCopies(): void {
  copies?.clear();
}

/** Of a transform, counted in characters like everything that is read. A value is an element of a list, or what the transform gets. */
export interface Cost {
  value: number;
  /** Of each character. */
  character: number;
}

/** Before a transform of this value. */
export function mayTransform(value: unknown, cost: Cost): boolean {
  // Counting the fields of a large object takes time too.
  return !isQuotaSpent() && mayRead(readingOf(value, toRead, cost));
}
/** After it. */
export function mayReturn(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return true;
  return Array.isArray(result) ? mayReadList(result) : mayRead(PER_NEW_FIELD * Object.keys(result).length);
}
/** Of all levels. Stops counting above `limit`. Fields have a price of their own. */
function readingOf(value: unknown, limit: number, cost: Cost, ofField = false): number {
  const own = ofField ? 0 : cost.value;
  if (typeof value === 'string') return own + cost.character * value.length;
  if (typeof value === 'number') return own + (Number.isInteger(value) ? 0 : cost.character * PER_DECIMAL);
  if (typeof value !== 'object' || value === null) return own;
  if (!Array.isArray(value)) return own + readingOfFields(value as Record<string, unknown>, limit - own, cost);
  let sum = own + PER_ELEMENT * value.length;
  for (let i = 0; i < value.length && sum <= limit; i++) sum += readingOf(value[i], limit - sum, cost);
  return sum;
}
function readingOfFields(value: Record<string, unknown>, limit: number, cost: Cost): number {
  // Reading the values of an object with many fields takes longer than listing their names, which is often enough to know.
  const names = Object.keys(value);
  let sum = (names.length > MANY_FIELDS ? 2 * PER_FIELD : PER_FIELD) * names.length;
  for (let i = 0; i < names.length && sum <= limit; i++) sum += readingOf(value[names[i]!], limit - sum, cost, true);
  return sum;
}
