/** One request on its way through ingest, and the reading of its body. One object per request, no closures. */
import { ServerResponse } from 'node:http';
import { COLLECTION_ERRORS } from '../../http/errors.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import { type Refusal, sendError, sendOk } from './answers.ts';
import { TOO_LARGE } from './body.ts';
import type { CollectionMessage } from './collection-message.ts';
import type { IngestContext } from './context.ts';
import { type Connection, MAX_IGNORED_BYTES } from './direct-answers.ts';
import { OVERLOADED } from './overloaded.ts';
import type { Route } from './routes.ts';

const EXCHANGE = Symbol('exchange');
interface Carrier {
  [EXCHANGE]?: Exchange;
}
const EMPTY = Buffer.alloc(0);

export class Exchange {
  readonly ctx: IngestContext;
  readonly req: CollectionMessage;
  readonly route: Route;
  readonly query: string | undefined;
  readonly origin: string | undefined;
  readonly receivedAt: number;
  rules: IngestRules | undefined;
  limit = 0;
  answered = false;
  readonly #connection: Connection | undefined;
  #res: ServerResponse | undefined;
  #first: Buffer | undefined;
  #rest: Buffer[] | undefined;
  #size = 0;
  #ignored = 0;
  #held = 0;
  #inside = false;
  #onBody: ((exchange: Exchange, body: Buffer) => void) | undefined;
  #onTooLarge: ((exchange: Exchange) => void) | undefined;

  /** Answered by Node's response, or straight to the connection as long as nothing else is needed. */
  constructor(ctx: IngestContext, req: CollectionMessage, route: Route, by: ServerResponse | Connection) {
    this.ctx = ctx;
    this.req = req;
    this.route = route;
    if (by instanceof ServerResponse) this.#res = by;
    else this.#connection = by;
    const url = req.url ?? '';
    const mark = url.indexOf('?');
    this.query = mark === -1 ? undefined : url.slice(mark + 1);
    this.origin = req.headers.origin;
    this.receivedAt = ctx.clock.now();
  }

  /** Reads the body up to `limit`, then calls `onBody`, or `onTooLarge` as soon as it is too large. */
  read(limit: number, onBody: (exchange: Exchange, body: Buffer) => void, onTooLarge: (exchange: Exchange) => void): void {
    const { req } = this;
    this.limit = limit;
    this.#onBody = onBody;
    this.#onTooLarge = onTooLarge;
    if (Number(req.headers['content-length'] ?? 0) > limit) {
      onTooLarge(this);
      return;
    }
    this.enter();
    req.divert(this);
  }
  /** From here on a stop waits for this request. */
  enter(): void {
    this.ctx.gate.enter();
    this.#inside = true;
    if (this.#res !== undefined) this.#watch(this.#res);
  }
  /** Node's response. Where there is none so far, it is made now. */
  get res(): ServerResponse {
    if (this.#res === undefined) this.#connection!.handOver();
    return this.#res!;
  }
  adopt(res: ServerResponse): void {
    this.#res = res;
    if (this.#inside) this.#watch(res);
  }
  #watch(res: ServerResponse): void {
    (res as Carrier)[EXCHANGE] = this;
    res.on('close', onClose);
  }

  data(chunk: Buffer): void {
    if (this.answered) {
      this.#ignored += chunk.length;
      if (this.#ignored > MAX_IGNORED_BYTES) this.req.destroy();
      return;
    }
    this.#size += chunk.length;
    this.#held += chunk.length;
    if (!this.ctx.gate.receive(chunk.length, this.#size)) {
      this.#drop();
      this.refuse(OVERLOADED);
      return;
    }
    if (this.#size > this.limit) {
      this.#drop();
      this.#onTooLarge!(this);
      return;
    }
    if (this.#first === undefined) this.#first = chunk;
    else if (this.#rest === undefined) this.#rest = [this.#first, chunk];
    else this.#rest.push(chunk);
  }
  end(): void {
    if (this.answered) return;
    const body = this.#rest === undefined ? (this.#first ?? EMPTY) : Buffer.concat(this.#rest, this.#size);
    this.#drop();
    try {
      this.#onBody!(this, body);
    } catch (error) {
      this.ctx.logger.error({ err: error }, 'unexpected error while taking an event in');
      this.refuse({ code: 'internal_error' });
    }
  }
  closed(): void {
    this.answered = true;
    this.#drop();
    this.release();
  }
  release(): void {
    if (!this.#inside) return;
    this.#inside = false;
    this.ctx.gate.leave(this.#held);
  }
  refuse(refusal: Refusal): void {
    if (this.answered) return;
    this.answered = true;
    const { rules, ctx } = this;
    ctx.counts.rejected(refusal.code, rules);
    if (rules !== undefined && ctx.tap.watched(rules.orgId)) {
      ctx.tap.emit(rules.orgId, {
        stage: 'rejected',
        pipeline_id: rules.pipelineId,
        reason: refusal.code,
        status: COLLECTION_ERRORS[refusal.code].status,
        payload: { message: refusal.message ?? COLLECTION_ERRORS[refusal.code].message },
      });
    }
    this.hangUpWhenDraining();
    sendError(this.res, this.origin, refusal);
    this.release();
  }
  /** Sends the answer, unless the client is gone or has one. */
  answer(send: () => void): void {
    if (!this.answered) {
      this.answered = true;
      this.hangUpWhenDraining();
      send();
    }
    this.release();
  }
  /** The answer of a stored event, to be sent by `answer`. */
  sendOk(cookies: readonly string[] | undefined): void {
    if (this.#res === undefined && cookies === undefined) this.#connection!.sendOk(this.origin);
    else sendOk(this.res, this.origin, cookies);
  }
  /** While the service stops, every answer ends its connection, so that clients move to another process. */
  hangUpWhenDraining(): void {
    if (this.ctx.draining) this.res.shouldKeepAlive = false;
  }
  #drop(): void {
    this.#first = undefined;
    this.#rest = undefined;
  }
}

export const refuseTooLarge = (exchange: Exchange): void => exchange.refuse(TOO_LARGE);
export const refuseOverloaded = (exchange: Exchange): void => exchange.refuse(OVERLOADED);
/** Whether there is room for one more event; false after the refusal. */
export function hasRoom(exchange: Exchange): boolean {
  const { ctx, req } = exchange;
  if (req.isLetIn || !ctx.gate.refuses()) return true;
  refuseOverloaded(exchange);
  return false;
}

// Listeners are called with the emitter as `this`: one function serves every request.
/** Also where the client went away: an aborted request without an `error` listener tells nobody else. */
function onClose(this: ServerResponse): void {
  (this as Carrier)[EXCHANGE]!.closed();
}
