/** Batches: valid events are stored together in one append; invalid ones are named in the reply. */
import { anonymousIdOfRequest } from '@firsthand/core/event/anonymous-id.ts';
import { envelopeFields } from '@firsthand/core/event/envelope.ts';
import { integrationSettings } from '@firsthand/core/event/integrations.ts';
import { validateEvent } from '@firsthand/core/event/validate.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { messageOf, type Rejection } from '../../http/collection-reply.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../../http/errors.ts';
import { buildRecord, type IngestRecord, type RequestMeta } from '../../intake/ingest-record.ts';
import { AT_ONCE_BYTES, MAX_BATCH_EVENTS, type ParsedBatch, TOO_MANY_EVENTS } from '../../intake/parse-batch.ts';
import { inexactNumber } from '../../intake/parse-body.ts';
import { turns } from '../../runtime/turns.ts';
import type { Sender } from './admission.ts';
import { hasChallengeToken, tokenOf } from './challenge.ts';
import { EventCookies } from './event-cookies.ts';
import { type Exchange, TOO_LARGE } from './exchange.ts';
import { showReceived, showRejected } from './live-view.ts';
import { idOfRejected, messageIdOf, rejectContent, rejectedFields } from './reject-content.ts';
import type { RequestFields } from './rejected-letter.ts';
import { requestMeta } from './request-meta.ts';
import { store } from './store.ts';

/** The batch's own fields are stored with every event: without a limit one request could store 500 times its size. */
const MAX_SHARED_LENGTH = 32_768;
const SHARED_TOO_LARGE: Rejection = {
  code: 'payload_too_large',
  message: 'The context and integrations of a batch are limited to 32 KB: put more into the events.',
};
const CONTEXT_NOT_OBJECT: Rejection = { code: 'validation_failed', message: 'context must be an object.' };

interface BatchError {
  index: number;
  messageId: string | null;
  error: CollectionErrorCode;
  message: string;
}
/** The outcome of checking a batch. Holds no parsed event that nobody watches: it would outlive the wait for the log. */
interface CheckedBatch {
  records: IngestRecord[];
  /** The events of `records`, for the live view; undefined without a viewer. */
  shown: JsonObject[] | undefined;
  errors: BatchError[];
  cookies: EventCookies | undefined;
}

export function acceptBatch(exchange: Exchange, sender: Sender, text: Buffer, parsed: ParsedBatch): void {
  const batch = checkBatch(exchange, sender, text, parsed);
  if (batch === undefined) return;
  if (text.length + batch.copied > AT_ONCE_BYTES) {
    acceptInTurns(exchange, sender, batch).catch((error: unknown) => exchange.fail(error));
    return;
  }
  for (let index = 0; index < batch.events; index++) batch.check(index);
  conclude(exchange, sender, batch.checked);
}

/** Checking and copying 5 MB takes tens of milliseconds, and so does a context of 32 KB that 500 small events share. */
async function acceptInTurns(exchange: Exchange, sender: Sender, { events, check, checked }: BatchInProgress): Promise<void> {
  for (let index = 0; index < events; index++) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    check(index);
  }
  conclude(exchange, sender, checked);
}

function conclude(exchange: Exchange, sender: Sender, checked: CheckedBatch): void {
  if (checked.records.length === 0) replyAllRejected(exchange, checked.errors);
  else storeBatch(exchange, sender, checked);
}

function storeBatch(exchange: Exchange, { rules }: Sender, { records, shown, errors, cookies }: CheckedBatch): void {
  const { ctx } = exchange;
  store(exchange, records, (duplicates) => {
    ctx.counts.accepted(records.length, duplicates.filter(Boolean).length, rules.orgId, rules.pipelineId);
    const received = shown?.flatMap((event, at) => (duplicates[at] ? [] : [{ event, record: records[at]! }]));
    if (received !== undefined) showReceived(ctx, rules, received);
    const reply = { success: true, accepted: records.length, rejected: errors.length, errors };
    exchange.reply({ status: 200, body: JSON.stringify(reply), cookies: cookies?.headers() });
  });
}

interface BatchInProgress {
  /** How many. */
  events: number;
  /** Bytes of the batch's own fields, which are stored with each event. */
  copied: number;
  /** Checks one event; call it for each in order. */
  check(index: number): void;
  checked: CheckedBatch;
}
/** Undefined: the whole batch was rejected, and the request is answered. */
function checkBatch(exchange: Exchange, sender: Sender, text: Buffer, parsed: ParsedBatch): BatchInProgress | undefined {
  const { ctx } = exchange;
  const { rules } = sender;
  const { value: body, longNumbers, rejected } = parsed;
  const batch = readBatch(body);
  if ('code' in batch) {
    rejectContent(exchange, rules, batch, body, text);
    return undefined;
  }
  const { events } = batch;
  ctx.limiter.charge(rules.pipelineId, rules.rate, events.length - 1);

  const meta = requestMeta(exchange, sender);
  const ofRequest = meta.envelope.length;
  const sharedRejection = addSharedFields(meta, batch);
  if (sharedRejection !== undefined) {
    rejectContent(exchange, rules, sharedRejection, body, text);
    return undefined;
  }
  const copied = events.length * (meta.envelope.length - ofRequest);
  const cookies = meta.browserRequest ? new EventCookies(exchange, meta, body as JsonObject) : undefined;
  const tokenForAll = rules.challengeRequired && hasChallengeToken(exchange, rules, tokenOf(body));
  const bytesOf = eventBytes(text, parsed.items, events);
  let shared: RequestFields | undefined;
  /** Made for the first rejected event: most batches have none. */
  const request = () => (shared ??= { ...rejectedFields(exchange, rules), ...sharedFields(batch, meta) });
  const namesVisitor = () => anonymousIdOfRequest(meta) !== undefined;

  function rejectionOf(event: unknown, bytes: Buffer): Rejection | undefined {
    if (rules.challengeRequired && !tokenForAll && !hasChallengeToken(exchange, rules, tokenOf(event)))
      return { code: 'invalid_challenge_token' };
    const rejection = validateEvent(event, exchange.route.rules, namesVisitor);
    if (rejection !== undefined) return rejection;
    if (bytes.length > ctx.settings.maxBodyBytes) return TOO_LARGE;
    return longNumbers ? inexactNumber(bytes) : undefined;
  }
  const checked: CheckedBatch = { records: [], shown: ctx.tap.watched(rules.orgId) ? [] : undefined, errors: [], cookies };
  const check = (index: number): void => {
    const each = events[index];
    const bytes = bytesOf(index);
    const rejection = rejected?.get(index) ?? rejectionOf(each, bytes);
    if (rejection !== undefined) {
      checked.errors.push(errorOf(index, each, bytes, rejection));
      ctx.counts.rejected(rejection.code, rules);
      const eventId = idOfRejected(each, bytes);
      showRejected(ctx, rules, rejection, { index, eventId, body: each });
      ctx.rejectedEvents.keep({
        rules,
        rejection,
        eventId,
        bytes,
        impliedType: undefined,
        request: request(),
        receivedAt: meta.receivedAt,
      });
      return;
    }
    const event = each as JsonObject;
    const vendorIds = cookies?.prepare(event);
    const built = buildRecord(meta, { body: event, bytes, index, vendorIds });
    cookies?.remember(built.anonymousId);
    checked.records.push(built);
    checked.shown?.push(event);
  };
  return { events: events.length, copied, check, checked };
}

interface Batch {
  events: unknown[];
  sentAt: unknown;
  context: unknown;
  integrations: Record<string, boolean> | undefined;
}
function readBatch(body: unknown): Batch | Rejection {
  if (!isObject(body)) return { code: 'validation_failed', message: 'The body must be an object with a list named batch.' };
  const events = own(body, 'batch');
  if (events === undefined || events === null) return { code: 'missing_field', message: 'batch is required.' };
  if (!Array.isArray(events)) return { code: 'validation_failed', message: 'batch must be a list of events.' };
  if (events.length === 0) return { code: 'validation_failed', message: 'batch is empty.' };
  if (events.length > MAX_BATCH_EVENTS) return TOO_MANY_EVENTS;
  const integrations = integrationSettings(own(body, 'integrations'));
  return { events, sentAt: own(body, 'sentAt'), context: own(body, 'context'), integrations };
}

/** `sentAt`, `context` and `integrations` of the batch go into the envelope of each event. */
function addSharedFields(meta: Pick<RequestMeta, 'envelope' | 'context'>, batch: Batch): Rejection | undefined {
  const { context, integrations } = batch;
  if (context !== undefined && context !== null) {
    if (!isObject(context)) return CONTEXT_NOT_OBJECT;
    const { challenge_token: _token, ...shared } = context as JsonObject;
    meta.context = shared;
  }
  const fields = envelopeFields({ context: meta.context, integrations });
  if (fields.length > MAX_SHARED_LENGTH) return SHARED_TOO_LARGE;
  meta.envelope += envelopeFields({ sent_at: sentAtOf(batch) }) + fields;
  return undefined;
}

function sharedFields(
  batch: Batch,
  { context }: Pick<RequestMeta, 'context'>,
): Pick<RequestFields, 'sent_at' | 'context' | 'integrations'> {
  const sent_at = sentAtOf(batch);
  const { integrations } = batch;
  return {
    ...(sent_at === undefined ? {} : { sent_at }),
    ...(context === undefined ? {} : { context }),
    ...(integrations === undefined ? {} : { integrations }),
  };
}
function sentAtOf({ sentAt }: Batch): string | undefined {
  return typeof sentAt === 'string' && sentAt.length <= 64 ? sentAt : undefined;
}

/** The events of a batch that is kept unchecked, and what they share. Undefined where it is no batch, or too large. */
export function eventsOfBatch(text: Buffer, parsed: ParsedBatch) {
  const batch = readBatch(parsed.value);
  if ('code' in batch) return undefined;
  const meta = { envelope: '', context: undefined };
  if (addSharedFields(meta, batch) !== undefined) return undefined;
  return { events: batch.events, bytesOf: eventBytes(text, parsed.items, batch.events), shared: sharedFields(batch, meta) };
}

/** Each event's bytes as they came; serialised again only where their place in the text is unknown. */
function eventBytes(bytes: Buffer, items: number[] | undefined, events: unknown[]): (index: number) => Buffer {
  const serialised = (index: number) => Buffer.from(JSON.stringify(events[index]));
  if (items?.length !== 2 * events.length) return serialised;
  // Only objects and lists have a place.
  return (index) => (items[2 * index + 1] === 0 ? serialised(index) : bytes.subarray(items[2 * index], items[2 * index + 1]));
}

function errorOf(index: number, event: unknown, bytes: Buffer, rejection: Rejection): BatchError {
  return { index, messageId: messageIdOf(event, bytes) ?? null, error: rejection.code, message: messageOf(rejection) };
}

/** The first error stands for the request; all are listed. */
function replyAllRejected(exchange: Exchange, errors: BatchError[]): void {
  const onlyTokens = errors.every(({ error }) => error === 'invalid_challenge_token');
  exchange.reply({
    status: onlyTokens ? COLLECTION_ERRORS.invalid_challenge_token.status : 400,
    body: JSON.stringify({ error: errors[0]?.error, message: errors[0]?.message, accepted: 0, rejected: errors.length, errors }),
  });
}
