/**
 * Requests of a known pipeline whose sender may not send: disabled pipeline, origin, address, signature. They are kept like other rejected
 * events, so that a wrong allowlist can be explained.
 *
 * The answer does not wait for the body. Anybody can send such requests: a body is read only while the budget of its pipeline allows to
 * keep it (`rejected-events.ts`), and no further than it is kept. The others are only counted.
 */
import type { RejectedSender } from '@firsthand/core/outcome/outcome.ts';
import { BodyBytes } from '../../http/body-bytes.ts';
import type { Rejection } from '../../http/collection-reply.ts';
import { derivedUuid } from '../../intake/ingest-record.ts';
import { parseBatch } from '../../intake/parse-batch.ts';
import { isGzip, parseBody, type Unpacked, unpack, withoutMark } from '../../intake/parse-body.ts';
import { freeBytes } from '../../runtime/free-bytes.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { eventsOfBatch } from './batch.ts';
import { type BodyReader, type Exchange, MAX_IGNORED_BYTES, MAX_KEPT_BYTES } from './exchange.ts';
import { showRejected } from './live-view.ts';
import { idOfRejected, rejectedFields } from './reject-content.ts';
import type { Rejected, RequestFields } from './rejected-letter.ts';
import { checkSignature, type SignatureCheck } from './request-signature.ts';

const MAX_ORIGIN = 2_048;
/** A packed body that unpacks to more is kept without its text. */
const MAX_UNPACKED = 2 * MAX_KEPT_BYTES;
const EMPTY = Buffer.alloc(0);

/** A body that was read before its sender was refused. */
export interface ReadBody {
  /** A client may have signed either. */
  signed: readonly Buffer[];
  /** The event or batch, unpacked. */
  bytes: Buffer;
}
interface Refused {
  exchange: Exchange;
  rules: IngestRules;
  rejection: Rejection;
  request: RequestFields;
  sender: RejectedSender;
}

/** `body`: undefined where the body was not read yet. */
export function refuseSender(exchange: Exchange, rules: IngestRules, rejection: Rejection, body: (() => ReadBody) | undefined): void {
  const { ctx, req } = exchange;
  if (exchange.finished) return;
  if (!ctx.rejectedEvents.hasRoom(rules.pipelineId)) {
    ctx.rejectedEvents.drop(rules);
    exchange.reject(rejection);
    return;
  }
  // The connection may be gone when the body ends.
  const refused = { exchange, rules, rejection, request: rejectedFields(exchange, rules), sender: senderOf(exchange, rules) };
  if (body === undefined) ctx.readBody(req, new RefusedBody(refused));
  exchange.answer(rejection);
  if (body !== undefined) keepBody(refused, body(), true);
}

/** Reads as much as is kept, after the answer. */
class RefusedBody implements BodyReader {
  readonly #refused: Refused;
  #bytes = new BodyBytes();
  #size = 0;
  #ignored = 0;
  #open = true;

  constructor(refused: Refused) {
    this.#refused = refused;
    const { exchange, rules } = refused;
    exchange.ctx.rejectedEvents.beginReading(rules.pipelineId);
    exchange.req.socket.on('close', this.#onClose);
  }
  data(chunk: Buffer): void {
    const { ctx, req } = this.#refused.exchange;
    // Not later: adding the chunk frees it.
    const { length } = chunk;
    if (!this.#open) {
      this.#ignored += length;
      freeBytes(chunk);
      if (this.#ignored > MAX_IGNORED_BYTES) req.destroy();
      return;
    }
    this.#bytes.add(chunk);
    this.#size += length;
    if (!ctx.rejectedEvents.hold(length)) this.#giveUp();
    else if (this.#size > MAX_KEPT_BYTES) this.#keep(false);
  }
  end(): void {
    if (this.#open) this.#keep(true);
  }
  readonly #onClose = (): void => {
    if (this.#open) this.#keep(false);
  };

  #keep(whole: boolean): void {
    const body = this.#bytes.joined;
    this.#close();
    keepWire(this.#refused, body, whole);
  }
  #giveUp(): void {
    this.#close();
    const { exchange, rules, rejection } = this.#refused;
    exchange.ctx.rejectedEvents.drop(rules);
    showRejected(exchange.ctx, rules, rejection, { impliedType: exchange.route.impliedType });
  }
  #close(): void {
    const { exchange, rules } = this.#refused;
    this.#open = false;
    this.#bytes = new BodyBytes();
    exchange.req.socket.off('close', this.#onClose);
    exchange.ctx.rejectedEvents.endReading(rules.pipelineId, this.#size);
  }
}

function keepWire(refused: Refused, wire: Buffer, whole: boolean): void {
  if (!isGzip(wire)) {
    keepBody(refused, { signed: [wire], bytes: wire }, whole);
    return;
  }
  const keep = (unpacked: Unpacked): void =>
    unpacked.ok
      ? keepBody(refused, { signed: [wire, unpacked.bytes], bytes: unpacked.bytes }, true)
      : keepBody(refused, { signed: [wire], bytes: EMPTY }, false);
  const unpacked = whole ? unpack(wire, MAX_UNPACKED) : ({ ok: false, rejection: refused.rejection } as const);
  if (!(unpacked instanceof Promise)) keep(unpacked);
  else unpacked.then(keep).catch((error: unknown) => refused.exchange.ctx.logger.error({ err: error }, 'rejected event not kept'));
}

/** `whole`: nothing of the body is missing. */
function keepBody(refused: Refused, { signed, bytes: unpacked }: ReadBody, whole: boolean): void {
  const { exchange, rules, rejection, request } = refused;
  const { ctx, route, receivedAt } = exchange;
  const bytes = withoutMark(unpacked);
  const isSmall = whole && bytes.length <= MAX_KEPT_BYTES;
  const check = whole ? signatureOf(refused, signed) : undefined;
  const sender = { ...refused.sender, ...(rules.server && rejection.code !== 'ip_not_allowed' ? proofOf(check) : undefined) };
  const keep = (event: unknown, eventBytes: Buffer, index: number, more: Partial<Rejected>, place?: number): void => {
    const digest = check?.kind === 'accepted' ? check.digest : undefined;
    const eventId = idOfRejected(
      event,
      eventBytes,
      digest === undefined ? undefined : () => derivedUuid(rules.pipelineId, `${digest}/${index}`),
    );
    const cut = whole ? {} : { cut: true as const };
    const impliedType = route.impliedType;
    ctx.rejectedEvents.keep({ rules, rejection, eventId, bytes: eventBytes, impliedType, request, receivedAt, sender, ...cut, ...more });
    showRejected(ctx, rules, rejection, { eventId, body: event, impliedType, ...(place === undefined ? {} : { index: place }) });
  };
  if (route.kind !== 'batch') {
    const parsed = isSmall ? parseBody(bytes) : undefined;
    keep(parsed?.ok ? parsed.value : undefined, bytes, 0, {});
    return;
  }
  const batch = isSmall ? batchOf(bytes, ctx.settings.maxBodyBytes) : undefined;
  if (batch === undefined) {
    keep(null, bytes, 0, {});
    return;
  }
  const { events, bytesOf, shared } = batch;
  // The request was counted as one when it was answered.
  if (events.length > 1) ctx.counts.rejected(rejection.code, rules, events.length - 1);
  for (const [index, event] of events.entries()) keep(event, bytesOf(index), index, { request: { ...request, ...shared } }, index);
}

function batchOf(bytes: Buffer, maxEventBytes: number) {
  const parsed = parseBatch(bytes, maxEventBytes);
  // Only a large batch is parsed in turns.
  return parsed instanceof Promise || !parsed.ok ? undefined : eventsOfBatch(bytes, parsed);
}

function senderOf(exchange: Exchange, rules: IngestRules): RejectedSender {
  const { ctx, origin } = exchange;
  const address = rules.server ? ctx.proxies.address(exchange) : undefined;
  return {
    // A cut origin must not be one that is allowed.
    ...(origin === undefined ? {} : { origin: origin.length > MAX_ORIGIN ? `${origin.slice(0, MAX_ORIGIN)}…` : origin }),
    ...(address === undefined ? {} : { address }),
  };
}

/** A pipeline that is disabled, or refuses the origin, has not looked at the signature yet: a replay needs to know. */
function signatureOf({ exchange, rules, rejection }: Refused, signed: readonly Buffer[]): SignatureCheck | undefined {
  if (!rules.server || (rejection.code !== 'pipeline_disabled' && rejection.code !== 'origin_not_allowed')) return undefined;
  return checkSignature(exchange.headers, rules, signed, exchange.receivedAt);
}
function proofOf(check: SignatureCheck | undefined): Pick<RejectedSender, 'signature'> {
  if (check?.kind !== 'accepted') return { signature: 'invalid' };
  return check.digest === undefined ? {} : { signature: 'valid' };
}
