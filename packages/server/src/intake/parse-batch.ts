/**
 * The body of a batch, up to 5 MB. A large one is parsed event by event, with turns of the event loop in between: building
 * 5 MB of small objects in one go takes 400 ms.
 */
import { itemsOf } from '@firsthand/core/event/batch-items.ts';
import { scanJson, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { isObject } from '@firsthand/core/json.ts';
import type { Rejection } from '../http/collection-reply.ts';
import { turns } from '../runtime/turns.ts';
import {
  inexactNumber,
  isText,
  MAX_DEPTH,
  NESTS_TOO_DEEP,
  NOT_JSON,
  NOT_TEXT,
  type Parsed,
  parseText,
  TOO_MANY_VALUES,
} from './parse-body.ts';

export const MAX_BATCH_EVENTS = 500;
/** A body, or one event, of this size is parsed in a few milliseconds whatever it holds. */
const AT_ONCE_BYTES = 131_072;

export const TOO_MANY_EVENTS: Rejection = {
  code: 'payload_too_large',
  message: `A batch is limited to ${MAX_BATCH_EVENTS} events: split it.`,
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
export type BatchResult = ParsedBatch | Extract<Parsed, { ok: false }>;

export function parseBatch(bytes: Buffer): BatchResult | Promise<BatchResult> {
  if (!isText(bytes)) return NOT_TEXT as Extract<Parsed, { ok: false }>;
  const scanned = itemsOf(bytes, 'batch', MAX_DEPTH, MAX_BATCH_EVENTS);
  if (scanned === 'too_deep') return { ok: false, rejection: NESTS_TOO_DEEP };
  const { items, longNumbers, tooMany } = scanned;
  if (tooMany && bytes.length > AT_ONCE_BYTES) return { ok: false, rejection: TOO_MANY_EVENTS };
  if (bytes.length > AT_ONCE_BYTES && items !== undefined && canSplit(items)) return parseInTurns(bytes, items, longNumbers);
  if (bytes.length > AT_ONCE_BYTES && scanJson(bytes, MAX_DEPTH) === TOO_MANY) return { ok: false, rejection: TOO_MANY_VALUES };
  const parsed = parseText(bytes);
  if (!parsed.ok) return parsed;
  const rejection = longNumbers ? outsideEvents(bytes, items) : undefined;
  return rejection === undefined ? { ...parsed, items, longNumbers } : { ok: false, rejection };
}

/** Too many events, or items that are no objects: the body is rejected anyway. */
function canSplit(items: readonly number[]): boolean {
  return items.length > 0 && items.length <= 2 * MAX_BATCH_EVENTS && items.every((at, i) => i % 2 === 0 || at > 0);
}

async function parseInTurns(bytes: Buffer, items: number[], longNumbers: boolean): Promise<BatchResult> {
  const rest = withoutEvents(bytes, items);
  if (rest.length > AT_ONCE_BYTES && scanJson(rest, MAX_DEPTH) === TOO_MANY) return { ok: false, rejection: TOO_MANY_VALUES };
  const parsed = parseText(rest);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, rejection: NOT_JSON };
  const rejection = longNumbers ? inexactNumber(rest) : undefined;
  if (rejection !== undefined) return { ok: false, rejection };
  const events: unknown[] = [];
  const rejected = new Map<number, Rejection>();
  for (let i = 0; i < items.length; i += 2) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    const json = bytes.subarray(items[i], items[i + 1]);
    if (json.length > AT_ONCE_BYTES && scanJson(json, MAX_DEPTH) === TOO_MANY) {
      rejected.set(i / 2, TOO_MANY_VALUES);
      events.push(undefined);
      continue;
    }
    const event = parseText(json);
    if (!event.ok) return event;
    events.push(event.value);
  }
  return { ok: true, value: { ...parsed.value, batch: events }, items, longNumbers, rejected };
}

/** The body with an empty list of events; not JSON where anything but a comma stands between two of them. */
function withoutEvents(bytes: Buffer, items: readonly number[]): Buffer {
  const between = commasOnly(bytes, items) ? '' : 'not JSON';
  return Buffer.concat([bytes.subarray(0, items[0]), Buffer.from(between), bytes.subarray(items.at(-1))]);
}
function commasOnly(bytes: Buffer, items: readonly number[]): boolean {
  for (let i = 1; i + 1 < items.length; i += 2)
    if (!/^[ \t\r\n]*,[ \t\r\n]*$/.test(bytes.toString('latin1', items[i], items[i + 1]))) return false;
  return true;
}

/** The batch's own fields are stored with every event. Numbers inside the events are checked one by one. */
function outsideEvents(bytes: Buffer, items: number[] | undefined): Rejection | undefined {
  const split = items !== undefined && items.length > 0 && items.every((at, i) => i % 2 === 0 || at > 0);
  return inexactNumber(split ? withoutEvents(bytes, items) : bytes);
}
