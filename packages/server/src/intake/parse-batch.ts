/**
 * The body of a batch, up to 5 MB. A large one is scanned in steps and parsed event by event, with turns of the event loop in
 * between: building 5 MB of small objects in one go takes 400 ms.
 */
import { ItemScan, type Items, itemsOf } from '@firsthand/core/event/batch-items.ts';
import { scanJson, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { isObject, own } from '@firsthand/core/json.ts';
import type { Rejection } from '../http/collection-reply.ts';
import { turns } from '../runtime/turns.ts';
import {
  type Encoding,
  encodingOf,
  inexactNumber,
  MAX_DEPTH,
  NESTS_TOO_DEEP,
  NOT_TEXT,
  type NotParsed,
  parseText,
  TOO_MANY_VALUES,
} from './parse-body.ts';

export const MAX_BATCH_EVENTS = 500;
/** A body, or one event, of this size is parsed in a few milliseconds whatever it holds. */
export const AT_ONCE_BYTES = 131_072;
/** Takes 1 to 3 ms. */
const SCAN_BYTES = 262_144;

export const TOO_MANY_EVENTS: Rejection = {
  code: 'payload_too_large',
  message: `A batch is limited to ${MAX_BATCH_EVENTS} events: split it.`,
};

const EVENT_TOO_LARGE: Rejection = { code: 'payload_too_large' };
const NO_LIST: Rejection = { code: 'invalid_json', message: 'The body is not a JSON object with a list named batch.' };
const FRAME_TOO_LARGE: Rejection = {
  code: 'payload_too_large',
  message: 'A batch has more than 128 KB outside of its events: put it into the events.',
};

export interface ParsedBatch {
  ok: true;
  value: unknown;
  longNumbers: boolean;
  /** Where each event begins and ends in the body, in turn. */
  items: number[] | undefined;
  /** Events that were not built. */
  rejected?: ReadonlyMap<number, Rejection>;
}
export type BatchResult = ParsedBatch | NotParsed;

/** `maxEventBytes`: a larger event is rejected without being parsed. */
export function parseBatch(bytes: Buffer, maxEventBytes: number): BatchResult | Promise<BatchResult> {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return NOT_TEXT;
  if (bytes.length > AT_ONCE_BYTES) return parseInTurns(bytes, encoding, maxEventBytes);
  const scanned = itemsOf(bytes, 'batch', MAX_DEPTH, MAX_BATCH_EVENTS);
  if (scanned === 'too_deep') return { ok: false, rejection: NESTS_TOO_DEEP };
  const { items, longNumbers } = scanned;
  const parsed = parseText(bytes, encoding);
  if (!parsed.ok) return parsed;
  const rejection = longNumbers ? outsideEvents(bytes, items) : undefined;
  return rejection === undefined ? { ...parsed, items, longNumbers } : { ok: false, rejection };
}

async function parseInTurns(bytes: Buffer, encoding: Encoding, maxEventBytes: number): Promise<BatchResult> {
  const scanned = await scanInTurns(bytes);
  if (scanned === 'too_deep') return { ok: false, rejection: NESTS_TOO_DEEP };
  const { items, longNumbers, tooMany } = scanned;
  if (tooMany) return { ok: false, rejection: TOO_MANY_EVENTS };
  if (items === undefined) return { ok: false, rejection: NO_LIST };
  const frame = withoutEvents(bytes, items);
  if (frame.length > AT_ONCE_BYTES) return { ok: false, rejection: FRAME_TOO_LARGE };
  const parsed = parseText(frame, encoding);
  if (!parsed.ok) return parsed;
  const rejection = longNumbers ? inexactNumber(frame) : undefined;
  if (rejection !== undefined) return { ok: false, rejection };
  // In place of each event that is an object stands null; other items are returned unchanged, and are rejected as events later.
  const events = isObject(parsed.value) ? own(parsed.value, 'batch') : undefined;
  if (!Array.isArray(events)) return { ok: false, rejection: NO_LIST };
  const rejected = new Map<number, Rejection>();
  for (let i = 0; i < events.length; i++) {
    const [from, to] = [items[2 * i], items[2 * i + 1]];
    if (to === undefined || to === 0) continue;
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    const json = bytes.subarray(from, to);
    const excess =
      json.length > maxEventBytes
        ? EVENT_TOO_LARGE
        : json.length > AT_ONCE_BYTES && scanJson(json, MAX_DEPTH) === TOO_MANY
          ? TOO_MANY_VALUES
          : undefined;
    if (excess !== undefined) {
      rejected.set(i, excess);
      events[i] = undefined;
      continue;
    }
    const event = parseText(json, encoding);
    if (!event.ok) return event;
    events[i] = event.value;
  }
  return { ok: true, value: parsed.value, items, longNumbers, rejected };
}

async function scanInTurns(bytes: Buffer): Promise<Items | 'too_deep'> {
  const scan = new ItemScan(bytes, 'batch', MAX_DEPTH, MAX_BATCH_EVENTS);
  for (let to = SCAN_BYTES; to < bytes.length + SCAN_BYTES && !scan.tooDeep && !scan.tooMany; to += SCAN_BYTES) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    scan.run(to);
  }
  return scan.result();
}

/** The body with null in place of each event that is an object or a list: small, and JSON only where the body is. */
function withoutEvents(bytes: Buffer, items: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (let i = 0; i + 1 < items.length; i += 2) {
    const [from = 0, to = 0] = [items[i], items[i + 1]];
    if (to === 0) continue;
    parts.push(bytes.subarray(end, from), NULL);
    end = to;
  }
  return Buffer.concat([...parts, bytes.subarray(end)]);
}
const NULL = Buffer.from('null');

/** The batch's own fields are stored with every event. Numbers inside the events are checked one by one. */
function outsideEvents(bytes: Buffer, items: number[] | undefined): Rejection | undefined {
  return inexactNumber(items === undefined ? bytes : withoutEvents(bytes, items));
}
