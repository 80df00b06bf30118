/** Batches: good events are stored together in one step, bad ones are named in the answer. */
import { validateEvent } from '@firsthand/core/event/validate.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { type Refusal, sendJson } from './answers.ts';
import { TOO_LARGE } from './body.ts';
import { challengeHolds, tokenOf } from './challenge.ts';
import { EventCookies } from './event-cookies.ts';
import type { Exchange } from './exchange.ts';
import { factsOf } from './facts.ts';
import { buildRecord, type IngestRecord } from './record.ts';
import { store } from './store.ts';
import { tellReceived } from './tell.ts';

export const MAX_BATCH_EVENTS = 500;
/** It is kept with every event of the batch: without a bound one request could take 500 times its size. */
const MAX_CONTEXT_LENGTH = 32_768;
const CONTEXT_TOO_LARGE: Refusal = { code: 'payload_too_large', message: 'The context of a batch may be 32 KB: put more into the events.' };
const CONTEXT_NO_OBJECT: Refusal = { code: 'validation_failed', message: 'context must be an object.' };

export interface BatchText {
  bytes: Buffer;
  /** Where events begin and end in it, in turns. */
  items: number[] | undefined;
}
interface BatchError {
  index: number;
  messageId: string | null;
  error: CollectionErrorCode;
  message: string;
}

export function takeBatch(exchange: Exchange, body: unknown, text: BatchText, digest: string | undefined): void {
  const { ctx } = exchange;
  const rules = exchange.rules!;
  const events = readBatch(body);
  if (!Array.isArray(events)) {
    exchange.refuse(events);
    return;
  }
  ctx.limiter.charge(rules.pipelineId, rules.rate, events.length - 1);

  const facts = factsOf(exchange, digest);
  const sentAt = own(body as JsonObject, 'sentAt');
  const context = own(body as JsonObject, 'context');
  if (typeof sentAt === 'string' && sentAt.length <= 64) facts.sentAt = sentAt;
  if (context !== undefined && context !== null && !isObject(context)) {
    exchange.refuse(CONTEXT_NO_OBJECT);
    return;
  }
  if (isObject(context)) {
    facts.context = withoutToken(context as JsonObject);
    facts.contextJson = JSON.stringify(facts.context);
    if (facts.contextJson.length > MAX_CONTEXT_LENGTH) {
      exchange.refuse(CONTEXT_TOO_LARGE);
      return;
    }
  }
  const cookies = facts.browserRequest ? new EventCookies(exchange, facts) : undefined;
  const wholeBatch = rules.challengeRequired && challengeHolds(exchange, tokenOf(body));

  const records: IngestRecord[] = [];
  // Parsed events are let go before the log is awaited, unless somebody watches: garbage should die young.
  const shown: JsonObject[] | undefined = ctx.tap.watched(rules.orgId) ? [] : undefined;
  const { maxBodyBytes } = ctx.settings;
  const received = asReceived(text, events);
  const errors: BatchError[] = [];
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    const fault = refusalOf(exchange, event, wholeBatch);
    if (fault !== undefined) {
      errors.push(errorOf(index, event, fault));
      continue;
    }
    const json = received(index);
    if (json.length > maxBodyBytes) {
      errors.push(errorOf(index, event, TOO_LARGE));
      continue;
    }
    cookies?.prepare(event as JsonObject);
    const built = buildRecord(facts, event as JsonObject, json, undefined, index);
    cookies?.remember(built.anonymousId);
    records.push(built);
    shown?.push(event as JsonObject);
  }
  for (const { error } of errors) ctx.counts.rejected(error, rules);
  if (errors.length > 0 && shown !== undefined) {
    for (const { index, error, message } of errors)
      ctx.tap.emit(rules.orgId, { stage: 'rejected', pipeline_id: rules.pipelineId, reason: error, payload: { index, message } });
  }
  if (records.length === 0) {
    refuseAll(exchange, errors);
    return;
  }
  store(exchange, records, (_exchange, duplicates) => {
    ctx.counts.accepted(records.length, duplicates.filter(Boolean).length, rules.orgId, rules.pipelineId);
    if (shown !== undefined)
      for (const [at, duplicate] of duplicates.entries()) if (!duplicate) tellReceived(exchange, shown[at]!, records[at]!.eventId);
    const answer = JSON.stringify({ success: true, accepted: records.length, rejected: errors.length, errors });
    exchange.answer(() => sendJson(exchange.res, exchange.origin, 200, answer, cookies?.headers()));
  });
}

function readBatch(body: unknown): unknown[] | Refusal {
  if (!isObject(body)) return { code: 'validation_failed', message: 'The body must be an object with a list named batch.' };
  const batch = own(body, 'batch');
  if (batch === undefined || batch === null) return { code: 'missing_field', message: 'batch is required.' };
  if (!Array.isArray(batch)) return { code: 'validation_failed', message: 'batch must be a list of events.' };
  if (batch.length === 0) return { code: 'validation_failed', message: 'batch holds no event.' };
  if (batch.length > MAX_BATCH_EVENTS)
    return { code: 'payload_too_large', message: `A batch holds at most ${MAX_BATCH_EVENTS} events: split it.` };
  return batch;
}

/** Each event's bytes as they came; written anew only where they cannot be told from the text. */
function asReceived({ bytes, items }: BatchText, events: unknown[]): (index: number) => Buffer {
  if (items?.length !== 2 * events.length) return (index) => Buffer.from(JSON.stringify(events[index]));
  return (index) => bytes.subarray(items[2 * index], items[2 * index + 1]);
}

function refusalOf(exchange: Exchange, event: unknown, wholeBatch: boolean): Refusal | undefined {
  if (exchange.rules!.challengeRequired && !wholeBatch && !challengeHolds(exchange, tokenOf(event)))
    return { code: 'invalid_challenge_token' };
  return validateEvent(event, exchange.route.rules);
}

function errorOf(index: number, event: unknown, { code, message }: Refusal): BatchError {
  const id = isObject(event) ? own(event, 'messageId') : undefined;
  return {
    index,
    messageId: typeof id === 'string' ? id.slice(0, 255) : null,
    error: code,
    message: message ?? COLLECTION_ERRORS[code].message,
  };
}

/** No good event: the first fault is the answer's own, all are listed. They are counted already. */
function refuseAll(exchange: Exchange, errors: BatchError[]): void {
  const [{ error, message }] = errors as [BatchError];
  const challenge = errors.every((each) => each.error === 'invalid_challenge_token');
  const answer = JSON.stringify({ error, message, accepted: 0, rejected: errors.length, errors });
  exchange.answer(() =>
    sendJson(exchange.res, exchange.origin, challenge ? COLLECTION_ERRORS.invalid_challenge_token.status : 400, answer),
  );
}

function withoutToken(context: JsonObject): JsonObject {
  if (!Object.hasOwn(context, 'challenge_token')) return context;
  const { challenge_token: _token, ...rest } = context;
  return rest;
}
