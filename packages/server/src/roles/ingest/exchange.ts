/** One request in ingest: reads its body, sends its one reply, and holds its share of capacity until then. No closures per request. */

import type { IncomingMessage } from 'node:http';
import { BodyBytes } from '../../http/body-bytes.ts';
import { errorReply, type Rejection, type Reply } from '../../http/collection-reply.ts';
import { freeBytes } from '../../runtime/free-bytes.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type CollectionHeaders, collectionHeaders } from './collection-headers.ts';
import type { IngestContext } from './deps.ts';
import { type ShownRejected, showRejected } from './live-view.ts';
import type { CloseListener, Responder } from './responder.ts';
import type { Route } from './routes.ts';

export interface BodyReader {
  data(chunk: Buffer): void;
  end(): void;
}
type OnBody = (exchange: Exchange, body: Buffer) => void;
/** `start`: the first bytes of the body; empty where it was rejected before any came. */
type OnTooLarge = (exchange: Exchange, start: Buffer) => void;

export const OVERLOADED = { code: 'overloaded', retryAfterS: 1 } as const satisfies Rejection;
export const TOO_LARGE = { code: 'payload_too_large' } as const satisfies Rejection;
/** The rest of a rejected body may arrive up to this size; then the connection is cut. */
export const MAX_IGNORED_BYTES = 16 * 1_048_576;
/** Of a rejected event. One byte more is read to know that it was cut. */
export const MAX_KEPT_BYTES = 65_536;
const EMPTY = Buffer.alloc(0);

export class Exchange implements BodyReader, CloseListener {
  readonly ctx: IngestContext;
  readonly req: IncomingMessage;
  readonly route: Route;
  /** The query string without its question mark. */
  readonly query: string | undefined;
  readonly headers: CollectionHeaders;
  readonly origin: string | undefined;
  readonly receivedAt: number;
  /** The sender's pipeline, once admission knows it. */
  rules: IngestRules | undefined;
  /** Bytes that the body may have, packed or not. */
  limit = 0;
  /** True after the reply, or after the client went away. */
  finished = false;
  readonly #responder: Responder;
  readonly #arrivedAt: number;
  #firstChunk: Buffer | undefined;
  /** From the second chunk on. */
  #bytes: BodyBytes | undefined;
  #size = 0;
  #ignored = 0;
  #held = 0;
  #inFlight = false;
  #onBody: OnBody = rejectUnread;
  #onTooLarge: OnTooLarge = rejectTooLarge;

  constructor(ctx: IngestContext, req: IncomingMessage, route: Route, responder: Responder) {
    this.ctx = ctx;
    this.req = req;
    this.route = route;
    this.#responder = responder;
    const url = req.url ?? '';
    const mark = url.indexOf('?');
    this.query = mark === -1 ? undefined : url.slice(mark + 1);
    this.headers = collectionHeaders(req.rawHeaders);
    this.origin = this.headers.origin;
    this.receivedAt = ctx.clock.now();
    this.#arrivedAt = ctx.clock.monotonic();
  }

  /** Reads the body, then calls `onBody`; calls `onTooLarge` as soon as it exceeds `limit`. */
  read(limit: number, onBody: OnBody, onTooLarge: OnTooLarge): void {
    const declared = Number(this.headers['content-length'] ?? 0);
    this.limit = declared > limit ? Math.min(limit, MAX_KEPT_BYTES) : limit;
    this.#onBody = onBody;
    this.#onTooLarge = onTooLarge;
    // A body that would be ignored to its end is read as far as a rejected event is kept; a larger one is not read at all.
    if (declared > limit && declared > MAX_IGNORED_BYTES) {
      onTooLarge(this, EMPTY);
      return;
    }
    this.enter();
    this.ctx.readBody(this.req, this);
  }
  /** Counts this request as in flight: a stop waits for it. */
  enter(): void {
    this.ctx.capacity.enter();
    this.#inFlight = true;
    this.#responder.watchClose(this);
  }

  data(chunk: Buffer): void {
    if (this.finished) {
      this.#ignored += chunk.length;
      freeBytes(chunk);
      if (this.#ignored > MAX_IGNORED_BYTES) this.req.destroy();
      return;
    }
    this.#size += chunk.length;
    this.#held += chunk.length;
    if (!this.ctx.capacity.receive(chunk.length, this.#size)) {
      this.#dropBody();
      this.reject(OVERLOADED);
    } else if (this.#size > this.limit) {
      this.#keep(chunk);
      const start = this.#body().subarray(0, MAX_KEPT_BYTES + 1);
      this.#dropBody();
      this.#onTooLarge(this, start);
    } else this.#keep(chunk);
  }
  end(): void {
    if (this.finished) return;
    const body = this.#body();
    this.#dropBody();
    try {
      this.#onBody(this, body);
    } catch (error) {
      this.fail(error);
    }
  }
  /** Counts a body that was unpacked like one that came so. False where there is no room for it; the request is answered then, or gone. */
  hold(bytes: number): boolean {
    if (this.finished) return false;
    this.#held += bytes;
    if (this.ctx.capacity.receive(bytes, bytes)) return true;
    this.reject(OVERLOADED);
    return false;
  }
  closed(): void {
    this.finished = true;
    this.#dropBody();
    this.#leave();
  }

  /** The reply to stored events. */
  succeed(cookies: readonly string[] | undefined): void {
    this.#observeAccepted();
    if (this.#finish()) this.#responder.sendSuccess(this.origin, cookies, this.ctx.draining);
    this.#leave();
  }
  reply(reply: Omit<Reply, 'origin'>): void {
    if (reply.status === 200) this.#observeAccepted();
    if (this.#finish()) this.#responder.send({ ...reply, origin: this.origin }, this.ctx.draining);
    this.#leave();
  }
  /** Rejects the whole request: counted, shown in the live view, answered. `event`: the one that it held. */
  reject(rejection: Rejection, event: ShownRejected = { impliedType: this.route.impliedType }): void {
    if (this.finished) return;
    if (this.rules !== undefined) showRejected(this.ctx, this.rules, rejection, event);
    this.answer(rejection);
  }
  /** Counts and answers a rejection. The caller shows it in the live view, once it knows the event. */
  answer(rejection: Rejection): void {
    this.ctx.counts.rejected(rejection.code, this.rules);
    this.#finish();
    this.#responder.send(errorReply(rejection, this.origin), this.ctx.draining);
    this.#leave();
  }
  fail(error: unknown): void {
    this.ctx.logger.error({ err: error }, 'unexpected error while handling a collection request');
    this.reject({ code: 'internal_error' });
  }

  #observeAccepted(): void {
    this.ctx.acceptDuration?.observe((this.ctx.clock.monotonic() - this.#arrivedAt) / 1_000);
  }
  /** False if the reply was sent, or the client has gone away. */
  #finish(): boolean {
    if (this.finished) return false;
    this.finished = true;
    return true;
  }
  #leave(): void {
    if (!this.#inFlight) return;
    this.#inFlight = false;
    this.ctx.capacity.leave(this.#held);
  }
  /** Most bodies are one chunk, which is not copied. */
  #keep(chunk: Buffer): void {
    if (this.#firstChunk === undefined) this.#firstChunk = chunk;
    else (this.#bytes ??= new BodyBytes(this.#firstChunk)).add(chunk);
  }
  #body(): Buffer {
    return this.#bytes?.joined ?? this.#firstChunk ?? EMPTY;
  }
  #dropBody(): void {
    this.#firstChunk = undefined;
    this.#bytes = undefined;
  }
}

const rejectTooLarge: OnTooLarge = (exchange) => exchange.reject(TOO_LARGE);
const rejectUnread = (exchange: Exchange): void => exchange.reject({ code: 'internal_error' });
