/**
 * Encodes objects in one thread per process, because columns and compression of a large object take longer than the event loop may be
 * held. The thread starts with the first object and ends with the last user.
 */
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../runtime/thread-entry.ts';
import { turns } from '../../runtime/turns.ts';
import type { EncoderReply, EncoderRequest } from './encoder-thread.ts';
import type { EncodedObject, EncodingOptions } from './encoding.ts';

/** Copying so much takes about a millisecond. */
const PIECE_BYTES = 1024 * 1024;
/** A file of 16 MB as rows, columns and pages. */
const HEAP_MB = 128;
const YOUNG_MB = 8;
const NEWLINE = 10;

interface Waiting {
  resolve(object: EncodedObject): void;
  reject(error: Error): void;
}

class EncoderThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onEnd: () => void;
  #lastId = 0;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#worker = new Worker(threadEntry(new URL('./encoder-thread.ts', import.meta.url)), {
      eval: true,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: EncoderReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('object' in reply) waiting?.resolve(reply.object);
      else waiting?.reject(new Error(reply.error));
    });
    this.#worker.on('error', (error) => this.#ended(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', () => this.#ended(new Error('the encoder thread exited')));
  }

  encode(ndjson: Uint8Array<ArrayBuffer>, rows: number, options: EncodingOptions): Promise<EncodedObject> {
    const id = ++this.#lastId;
    return new Promise<EncodedObject>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ndjson, rows, options } satisfies EncoderRequest, [ndjson.buffer]);
    });
  }
  async end(): Promise<void> {
    await this.#worker.terminate();
  }
  #ended(error: Error): void {
    this.#onEnd();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

let thread: EncoderThread | undefined;
let users = 0;

export interface Encoder {
  /** `rows`: JSON in UTF-8. Rejects if the thread ends meanwhile; the next call starts another one. */
  encode(rows: readonly Uint8Array[], options: EncodingOptions): Promise<EncodedObject>;
  close(): Promise<void>;
}
export function openEncoder(): Encoder {
  users++;
  return {
    async encode(rows, options) {
      const ndjson = await linesOf(rows);
      const current: EncoderThread = (thread ??= new EncoderThread(() => {
        if (thread === current) thread = undefined;
      }));
      return current.encode(ndjson, rows.length, options);
    },
    async close() {
      users--;
      if (users > 0) return;
      const last = thread;
      thread = undefined;
      await last?.end();
    },
  };
}

/** One buffer, so that the thread gets it without another copy. */
async function linesOf(rows: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = rows.length;
  for (const row of rows) bytes += row.length;
  const lines = new Uint8Array(bytes);
  let at = 0;
  let copied = 0;
  for (const row of rows) {
    lines.set(row, at);
    at += row.length;
    lines[at++] = NEWLINE;
    copied += row.length;
    if (copied < PIECE_BYTES) continue;
    copied = 0;
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
  }
  return lines;
}
