import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { VendorReply } from '@firsthand/core/vendor/compiled.ts';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import type { Deadlines, Timed } from './deadlines.ts';
import type { Connection } from './origin-pool.ts';
import { DestinationRefused } from './resolver.ts';

const MAX_REPLY_BYTES = 65_536;

export type SendResult =
  | { kind: 'reply'; reply: VendorReply; duration_ms: number }
  /** `permanent`: nothing was sent, and a retry would fail the same way. */
  | { kind: 'failed'; error: string; permanent: boolean; duration_ms: number };

class Ended extends Error {
  override name = 'Ended';
}
const TIMED_OUT = new Ended('deadline reached');
const ENOUGH = new Ended('reply longer than the limit');

/**
 * One outbound request. It implements undici's handler directly, without a promise in between, because it runs for every event.
 * One deadline covers connecting, sending, headers and body, so a slowly dripping reply cannot last longer.
 */
export class InFlightRequest implements Dispatcher.DispatchHandler, Timed {
  readonly deadline: number;
  slot = -1;
  #controller: Dispatcher.DispatchController | undefined;
  #done: ((result: SendResult) => void) | undefined;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #deadlines: Deadlines;
  readonly #connection: Connection;
  #status = 0;
  #headers: Record<string, string> = {};
  #first: Buffer | undefined;
  #further: Buffer[] | undefined;
  #bytes = 0;
  /** What exceeds it is cut. */
  readonly #maxBytes: number;

  constructor(
    clock: Clock,
    deadlines: Deadlines,
    connection: Connection,
    limits: { timeoutMs: number; maxBytes?: number | undefined },
    done: (result: SendResult) => void,
  ) {
    this.#clock = clock;
    this.#deadlines = deadlines;
    this.#connection = connection;
    this.#done = done;
    this.#startedAt = clock.monotonic();
    this.deadline = this.#startedAt + limits.timeoutMs;
    this.#maxBytes = limits.maxBytes ?? MAX_REPLY_BYTES;
    deadlines.add(this);
  }

  refuse(error: unknown): void {
    this.#fail(messageOf(error), true);
  }
  timeOut(): void {
    this.#fail('timeout', false);
    this.#controller?.abort(TIMED_OUT);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline passed while connecting: nothing may be sent now.
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
    if (this.#first === undefined) this.#first = chunk;
    else if (this.#further === undefined) this.#further = [chunk];
    else this.#further.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#maxBytes) return;
    this.#reply(false);
    controller.abort(ENOUGH);
  }
  onResponseEnd(): void {
    this.#reply(true);
  }
  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const code = codeOf(error);
    const rejected = certificateRejection(this.#connection.socketError ?? code ?? '');
    if (rejected !== undefined) this.#fail(rejected, true);
    else if (code === 'UND_ERR_SOCKET' && this.#status === 0 && this.#connection.pool.presentsCertificate)
      this.#fail(`${messageOf(error)} (the destination may have rejected the client certificate)`, false);
    else this.#fail(messageOf(error), error instanceof DestinationRefused || code === 'UND_ERR_INVALID_ARG');
  }

  #reply(complete: boolean): void {
    const bytes = this.#first && this.#further ? Buffer.concat([this.#first, ...this.#further]) : this.#first;
    const body = bytes === undefined ? '' : textOf(bytes, this.#headers['content-encoding'], this.#maxBytes);
    this.#end({ kind: 'reply', reply: { status: this.#status, headers: this.#headers, body }, duration_ms: this.#elapsed() }, complete);
  }
  #fail(error: string, permanent: boolean): void {
    this.#end({ kind: 'failed', error, permanent, duration_ms: this.#elapsed() }, false);
  }
  #end(result: SendResult, reusable: boolean): void {
    const done = this.#done;
    if (done === undefined) return;
    this.#done = undefined;
    this.#deadlines.remove(this);
    if (reusable) this.#connection.pool.giveBack(this.#connection);
    else this.#connection.pool.discard(this.#connection);
    done(result);
  }
  #elapsed(): number {
    return Math.round(this.#clock.monotonic() - this.#startedAt);
  }
}

/**
 * The destination's TLS alert about our client certificate, or about its absence. A person must act, so a retry is useless. Errors in the
 * destination's own certificate have other codes.
 */
function certificateRejection(code: string): string | undefined {
  if (!code.startsWith('ERR_SSL_') || !code.includes('_ALERT_')) return undefined;
  const [, reason] = ALERTS.find(([alert]) => code.endsWith(alert)) ?? [];
  return reason && `the destination rejected the client certificate: ${reason}`;
}
const ALERTS: readonly (readonly [alert: string, reason: string])[] = [
  ['CERTIFICATE_REQUIRED', 'none was sent'],
  ['CERTIFICATE_EXPIRED', 'it has expired'],
  ['CERTIFICATE_REVOKED', 'it was revoked'],
  ['UNKNOWN_CA', 'its issuer is not trusted there'],
  ['BAD_CERTIFICATE', 'it is not valid there'],
  ['UNSUPPORTED_CERTIFICATE', 'its type is not supported'],
  ['CERTIFICATE_UNKNOWN', 'it is not accepted there'],
];

/** Requests ask for no encoding. A compressed reply is decoded anyway, within the size limit. */
function textOf(all: Buffer, encoding: string | undefined, maxOutputLength: number): string {
  const bytes = all.length > maxOutputLength ? all.subarray(0, maxOutputLength) : all;
  const unpack = encoding === undefined ? undefined : UNPACK[encoding.toLowerCase()];
  if (unpack === undefined) return bytes.toString('utf8');
  try {
    return unpack(bytes, { maxOutputLength }).toString('utf8');
  } catch {
    // The status decides; a body that does not decode counts as empty.
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
/** The error code (`ECONNREFUSED`) and message, never a stack. */
function messageOf(error: unknown): string {
  if (error instanceof DestinationRefused) return error.message;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return code === undefined || message.includes(code) ? message.slice(0, 300) : `${code}: ${message}`.slice(0, 300);
}
