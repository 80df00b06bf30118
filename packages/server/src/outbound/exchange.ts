import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { VendorReply } from '@firsthand/core/vendor/compiled.ts';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { DestinationRefused } from './resolver.ts';

export const MAX_REPLY_BYTES = 65_536;

export type SendResult =
  | { kind: 'reply'; reply: VendorReply; duration_ms: number }
  /** `permanent`: nothing was sent and nothing will change that. */
  | { kind: 'failed'; error: string; permanent: boolean; duration_ms: number };

class Ended extends Error {
  override name = 'Ended';
}
const TIMED_OUT = new Ended('the time is up');
const ENOUGH = new Ended('enough was read');

/**
 * One request on its way. It is undici's handler itself rather than a promise around one: this runs for every event.
 * One timer bounds connecting, sending, headers and body together, so that no dripping answer lasts longer.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #done: ((result: SendResult) => void) | undefined;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(clock: Clock, timeoutMs: number, done: (result: SendResult) => void) {
    this.#clock = clock;
    this.#done = done;
    this.#startedAt = clock.monotonic();
    this.#timer = setTimeout(onTimeout, timeoutMs, this);
  }

  refuse(error: unknown): void {
    this.#fail(messageOf(error), true);
  }
  timeOut(): void {
    this.#fail('timeout', false);
    this.#controller?.abort(TIMED_OUT);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The time was up while the connection was still being made: nothing may be sent any more.
    if (this.#done === undefined) controller.abort(TIMED_OUT);
    else this.#controller = controller;
  }
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#status = status;
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined && name !== '__proto__') this.#headers[name] = typeof value === 'string' ? value : value.join(', ');
    }
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < MAX_REPLY_BYTES) return;
    this.#reply();
    controller.abort(ENOUGH);
  }
  onResponseEnd(): void {
    this.#reply();
  }
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(messageOf(error), error instanceof DestinationRefused || codeOf(error) === 'UND_ERR_INVALID_ARG');
  }

  #reply(): void {
    const body = this.#bytes === 0 ? '' : textOf(this.#chunks, this.#headers['content-encoding']);
    this.#end({ kind: 'reply', reply: { status: this.#status, headers: this.#headers, body }, duration_ms: this.#elapsed() });
  }
  #fail(error: string, permanent: boolean): void {
    this.#end({ kind: 'failed', error, permanent, duration_ms: this.#elapsed() });
  }
  #end(result: SendResult): void {
    const done = this.#done;
    if (done === undefined) return;
    this.#done = undefined;
    clearTimeout(this.#timer);
    done(result);
  }
  #elapsed(): number {
    return Math.round(this.#clock.monotonic() - this.#startedAt);
  }
}

function onTimeout(exchange: Exchange): void {
  exchange.timeOut();
}

/** We ask for no encoding; a server that packs all the same is understood as far as it is right and small. */
function textOf(chunks: Buffer[], encoding: string | undefined): string {
  const bytes = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).subarray(0, MAX_REPLY_BYTES);
  const unpack = encoding === undefined ? undefined : UNPACK[encoding.toLowerCase()];
  if (unpack === undefined) return bytes.toString('utf8');
  try {
    return unpack(bytes, { maxOutputLength: MAX_REPLY_BYTES }).toString('utf8');
  } catch {
    // The status still tells; a body that cannot be read is as good as none.
    return '';
  }
}
const UNPACK: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
/** A word an operator knows (`ECONNREFUSED`), else the message; never a stack. */
function messageOf(error: unknown): string {
  if (error instanceof DestinationRefused) return error.message;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === undefined || message.includes(code) ? message.slice(0, 300) : `${code}: ${message}`.slice(0, 300);
}
