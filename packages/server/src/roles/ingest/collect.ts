/** Collection requests from first header to answer: who sends, may they, what is it, store it. */
import { validateEvent } from '@firsthand/core/event/validate.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { type Refusal, sendGif } from './answers.ts';
import { takeBatch } from './batch.ts';
import { isGzip, parseBody, unpack } from './body.ts';
import { challengeHolds, tokenOf } from './challenge.ts';
import { EventCookies } from './event-cookies.ts';
import { type Exchange, hasRoom, refuseTooLarge } from './exchange.ts';
import { factsOf } from './facts.ts';
import { keyOf, pipelineOf } from './key.ts';
import { buildRecord } from './record.ts';
import { checkSignature, type SignatureCheck } from './request-signature.ts';
import { store } from './store.ts';
import { tellReceived } from './tell.ts';

const BATCH_FACTOR = 5;
const UNSIGNED: SignatureCheck = { kind: 'unsigned' };

export function collect(exchange: Exchange): void {
  const { ctx, req, query, route } = exchange;
  if (!hasRoom(exchange)) return;
  const key = keyOf(req, query);
  if (key !== undefined && !admit(exchange, key)) return;
  const limit = ctx.settings.maxBodyBytes;
  exchange.read(route.kind === 'batch' ? limit * BATCH_FACTOR : limit, onBody, refuseTooLarge);
}

/** Key, origin, address and rate; false after the refusal. */
export function admit(exchange: Exchange, key: string): boolean {
  const { ctx, req, origin } = exchange;
  const refuse = (refusal: Refusal) => {
    exchange.refuse(refusal);
    return false;
  };
  const pipeline = pipelineOf(ctx.snapshots.current(), key);
  if (pipeline === undefined) return refuse({ code: 'invalid_pipeline_key' });
  const rules = pipeline.ingest;
  exchange.rules = rules;
  if (!rules.enabled) return refuse({ code: 'pipeline_disabled' });
  if (origin !== undefined && !rules.allowsOrigin(origin)) return refuse({ code: 'origin_not_allowed' });
  if (rules.allowsAddress !== undefined && !rules.allowsAddress(ctx.proxies.address(req) ?? '')) return refuse({ code: 'ip_not_allowed' });
  const wait = ctx.limiter.take(rules.pipelineId, rules.rate, 1);
  return wait === 0 || refuse({ code: 'rate_limited', retryAfterS: Math.max(1, Math.ceil(wait / 1_000)) });
}

function onBody(exchange: Exchange, wire: Buffer): void {
  if (!isGzip(wire)) {
    onBytes(exchange, wire, wire);
    return;
  }
  const unpacked = unpack(wire, exchange.limit);
  if (!(unpacked instanceof Promise)) {
    if (unpacked.ok) onBytes(exchange, wire, unpacked.bytes);
    else exchange.refuse(unpacked.refusal);
    return;
  }
  unpacked
    .then((result) => {
      if (result.ok) onBytes(exchange, wire, result.bytes);
      else exchange.refuse(result.refusal);
    })
    .catch((error: unknown) => {
      exchange.ctx.logger.error({ err: error }, 'unexpected error while taking an event in');
      exchange.refuse({ code: 'internal_error' });
    });
}

function onBytes(exchange: Exchange, wire: Buffer, bytes: Buffer): void {
  exchange.ctx.gate.take(bytes.length);
  // A key in the header lets a forged body be refused before anything is built from it.
  let signature = exchange.rules === undefined ? undefined : signatureOf(exchange, wire, bytes);
  if (signature?.kind === 'wrong') {
    exchange.refuse({ code: 'invalid_signature' });
    return;
  }
  const parsed = parseBody(bytes, exchange.route.kind === 'batch');
  if (!parsed.ok) {
    exchange.refuse(parsed.refusal);
    return;
  }
  const body = parsed.value;
  if (exchange.rules === undefined) {
    const key = isObject(body) ? own(body, 'writeKey') : undefined;
    if (!admit(exchange, typeof key === 'string' ? key : '')) return;
    signature = signatureOf(exchange, wire, bytes);
    if (signature.kind === 'wrong') {
      exchange.refuse({ code: 'invalid_signature' });
      return;
    }
  }
  const digest = signature?.kind === 'signed' ? signature.digest : undefined;
  if (exchange.route.kind === 'batch') takeBatch(exchange, body, { bytes, items: parsed.items }, digest);
  else takeEvent(exchange, body, bytes, digest);
}

function signatureOf(exchange: Exchange, wire: Buffer, bytes: Buffer): SignatureCheck {
  const rules = exchange.rules!;
  if (!rules.server) return UNSIGNED;
  return checkSignature(exchange.req.headers, rules, wire === bytes ? [wire] : [wire, bytes], exchange.receivedAt);
}

export function takeEvent(exchange: Exchange, body: unknown, bytes: Buffer, digest: string | undefined): void {
  const { ctx, route } = exchange;
  const rules = exchange.rules!;
  if (rules.challengeRequired && !challengeHolds(exchange, tokenOf(body))) {
    exchange.refuse({ code: 'invalid_challenge_token' });
    return;
  }
  const fault = validateEvent(body, route.rules);
  if (fault !== undefined) {
    exchange.refuse(fault);
    return;
  }
  const event = body as JsonObject;
  const facts = factsOf(exchange, digest);
  const cookies = facts.browserRequest ? new EventCookies(exchange, facts) : undefined;
  cookies?.prepare(event);
  const built = buildRecord(facts, event, bytes, route.implied, 0);
  cookies?.remember(built.anonymousId);
  // The parsed event is let go before the log is awaited, unless somebody watches: garbage should die young.
  const shown = ctx.tap.watched(rules.orgId) ? event : undefined;
  store(exchange, [built], (_exchange, [duplicate]) => {
    ctx.counts.accepted(1, duplicate ? 1 : 0, rules.orgId, rules.pipelineId);
    if (!duplicate && shown !== undefined) tellReceived(exchange, shown, built.eventId);
    exchange.answer(() => {
      if (route.kind === 'pixel') sendGif(exchange.res, exchange.origin, cookies?.headers());
      else exchange.sendOk(cookies?.headers());
    });
  });
}
