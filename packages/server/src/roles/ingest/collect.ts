/**
 * The path of a collection request: admit the sender, read and parse the body, verify the signature, validate the events,
 * append them to the ingest log, reply.
 */
import { validateEvent } from '@firsthand/core/event/validate.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Rejection } from '../../http/collection-reply.ts';
import { buildRecord } from '../../intake/ingest-record.ts';
import { AT_ONCE_BYTES, type BatchResult, parseBatch } from '../../intake/parse-batch.ts';
import { inexactNumber, isGzip, type Parsed, parseBody, parseBodyInSteps, unpack, withoutMark } from '../../intake/parse-body.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { finishInLongTurns, turns } from '../../runtime/turns.ts';
import { admit, bodyKey, type Sender, verifySignature } from './admission.ts';
import { acceptBatch } from './batch.ts';
import { hasChallengeToken, tokenOf } from './challenge.ts';
import { readIdCookie } from './cookies.ts';
import { EventCookies } from './event-cookies.ts';
import { type Exchange, OVERLOADED, TOO_LARGE } from './exchange.ts';
import { showReceived } from './live-view.ts';
import { keyOf } from './pipeline-key.ts';
import { PIXEL } from './pixel-image.ts';
import { rejectContent } from './reject-content.ts';
import { requestMeta } from './request-meta.ts';
import { store } from './store.ts';

const BATCH_FACTOR = 5;

export function collect(exchange: Exchange): void {
  const { ctx, headers, query, route } = exchange;
  const key = keyOf(headers, query);
  if (key !== undefined && admit(exchange, key) === undefined) return;
  const limit = ctx.settings.maxBodyBytes;
  exchange.read(route.kind === 'batch' ? limit * BATCH_FACTOR : limit, onBody, rejectTooLarge);
}

/** The start of the event is kept, unless it is packed, or its signature had to be verified first. */
function rejectTooLarge(exchange: Exchange, start: Buffer): void {
  const { rules, route } = exchange;
  if (rules === undefined || rules.server || start.length === 0 || isGzip(start)) exchange.reject(TOO_LARGE);
  else rejectContent(exchange, rules, TOO_LARGE, route.kind === 'batch' ? null : undefined, start);
}

function onBody(exchange: Exchange, wire: Buffer): void {
  const { ctx, rules } = exchange;
  // With the key in the body, the organisation is not known before it is parsed.
  if (rules === undefined) onWire(exchange, wire);
  else if (!ctx.turnShares.run(rules.orgId, wire.length, () => inTurn(exchange, wire))) exchange.reject(OVERLOADED);
}

function inTurn(exchange: Exchange, wire: Buffer): void {
  try {
    if (!exchange.finished) onWire(exchange, wire);
  } catch (error) {
    exchange.fail(error);
  }
}

function onWire(exchange: Exchange, wire: Buffer): void {
  if (!isGzip(wire)) {
    onBytes(exchange, wire, wire);
    return;
  }
  const unpacked = unpack(wire, exchange.limit);
  if (!(unpacked instanceof Promise)) {
    if (unpacked.ok) onBytes(exchange, wire, unpacked.bytes);
    else exchange.reject(unpacked.rejection);
    return;
  }
  unpacked
    .then((result) => {
      if (!result.ok) exchange.reject(result.rejection);
      else if (exchange.hold(result.bytes.length)) onBytes(exchange, wire, result.bytes);
    })
    .catch((error: unknown) => exchange.fail(error));
}

function onBytes(exchange: Exchange, wire: Buffer, unpacked: Buffer): void {
  const { ctx } = exchange;
  atStep('ingest', exchange.route.kind);
  ctx.capacity.addCost(unpacked.length);
  const { rules: admitted } = exchange;
  // With the key in a header, a forged body is rejected before it is parsed.
  const sender = admitted && verifySignature(exchange, admitted, wire, unpacked);
  if (admitted !== undefined && sender === undefined) return;
  const bytes = withoutMark(unpacked);
  const onParsed = (parsed: Parsed | BatchResult): void => {
    if (!parsed.ok) {
      const rejection = unsupportedEncoding(exchange) ?? parsed.rejection;
      if (sender === undefined) exchange.reject(rejection);
      else rejectContent(exchange, sender.rules, rejection, undefined, bytes);
      return;
    }
    const known = sender ?? senderOfBody(exchange, wire, unpacked, parsed.value);
    if (known === undefined) return;
    if ('items' in parsed) acceptBatch(exchange, known, bytes, parsed);
    else acceptEvent(exchange, known, parsed.value, bytes, parsed.longNumbers);
  };
  if (exchange.route.kind !== 'batch' && bytes.length > AT_ONCE_BYTES) {
    parseLarge(bytes)
      .then(onParsed)
      .catch((error: unknown) => exchange.fail(error));
    return;
  }
  const parsed = exchange.route.kind === 'batch' ? parseBatch(bytes, ctx.settings.maxBodyBytes) : parseBody(bytes);
  if (parsed instanceof Promise) parsed.then(onParsed).catch((error: unknown) => exchange.fail(error));
  else onParsed(parsed);
}

/** Why a body cannot be read that came in another encoding than gzip. */
function unsupportedEncoding({ headers }: Exchange): Rejection | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'gzip' || encoding === 'identity') return undefined;
  return { code: 'invalid_json', message: 'This Content-Encoding is not supported: send gzip, or JSON without one.' };
}

/** Parsing 1 MB takes up to 30 ms, and checking it as long: other requests are read in between. */
async function parseLarge(bytes: Buffer): Promise<Parsed> {
  await turns.bulk();
  const parsed = await finishInLongTurns(parseBodyInSteps(bytes), () => atStep('parse'));
  await turns.bulk();
  atStep('check');
  return parsed;
}

/** The key is in the body: admission and the signature come after parsing. */
function senderOfBody(exchange: Exchange, wire: Buffer, unpacked: Buffer, body: unknown): Sender | undefined {
  const rules = admit(exchange, bodyKey(body), () => ({ signed: [wire, unpacked], bytes: unpacked }));
  return rules && verifySignature(exchange, rules, wire, unpacked);
}

/** One event that is the whole body, or a pixel's query. */
export function acceptEvent(exchange: Exchange, sender: Sender, body: unknown, bytes: Buffer, longNumbers = false): void {
  const { ctx, route } = exchange;
  const { rules } = sender;
  if (rules.challengeRequired && !hasChallengeToken(exchange, rules, tokenOf(body))) {
    rejectContent(exchange, rules, { code: 'invalid_challenge_token' }, body, bytes);
    return;
  }
  const namesVisitor = () => readIdCookie(exchange.headers.cookie) !== undefined;
  const fault = validateEvent(body, route.rules, namesVisitor) ?? (longNumbers ? inexactNumber(bytes) : undefined);
  if (fault !== undefined) {
    rejectContent(exchange, rules, fault, body, bytes);
    return;
  }
  const event = body as JsonObject;
  const meta = requestMeta(exchange, sender);
  const cookies = meta.browserRequest ? new EventCookies(exchange, meta, event) : undefined;
  const vendorIds = cookies?.prepare(event);
  const built = buildRecord(meta, { body: event, bytes, index: 0, impliedType: route.impliedType, vendorIds });
  cookies?.remember(built.anonymousId);
  // Without a viewer the parsed event is not referenced while the log is awaited: short-lived garbage is cheap.
  const shown = ctx.tap.watched(rules.orgId) ? event : undefined;
  store(exchange, [built], ([duplicate]) => {
    ctx.counts.accepted(1, duplicate ? 1 : 0, rules.orgId, rules.pipelineId);
    if (!duplicate && shown !== undefined) showReceived(ctx, rules, [{ event: shown, record: built }], route.impliedType);
    if (route.kind === 'pixel') exchange.reply({ ...PIXEL, cookies: cookies?.headers() });
    else exchange.succeed(cookies?.headers());
  });
}
