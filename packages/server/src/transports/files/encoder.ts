/**
 * Encodes objects in one thread per process, because columns and compression of a large object take longer than the event loop may be
 * held. The thread starts with the first object and ends with the last user.
 */
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../runtime/thread-entry.ts';
import { turns } from '../../runtime/turns.ts';
import type { EncoderReply, EncoderRequest } from './encoder-thread.ts';
import type { EncodedObject, EncodingOptions } from './encoding.ts';

/** Copying a piece to the thread takes about a millisecond. */
const PIECE_CHARS = 512 * 1024;
/** A file of 16 MB as rows, columns and pages. */
const HEAP_MB = 128;
const YOUNG_MB = 8;

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
    this.#worker = new Worker(threadEntry(new URL('./encoder-thread.ts', import.meta.url), 'start'), {
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

  async encode(lines: readonly string[], options: EncodingOptions): Promise<EncodedObject> {
    const id = ++this.#lastId;
    const encoded = new Promise<EncodedObject>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // The thread may end between two pieces, while nobody waits for this promise yet.
    encoded.catch(() => undefined);
    let piece: string[] = [];
    let chars = 0;
    for (const line of lines) {
      piece.push(line);
      chars += line.length;
      if (chars < PIECE_CHARS) continue;
      this.#worker.postMessage({ id, lines: piece } satisfies EncoderRequest);
      piece = [];
      chars = 0;
      await turns.bulk();
    }
    this.#worker.postMessage({ id, lines: piece, options } satisfies EncoderRequest);
    return encoded;
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
  /** Rejects if the thread ends meanwhile; the next call starts another one. */
  encode(lines: readonly string[], options: EncodingOptions): Promise<EncodedObject>;
  close(): Promise<void>;
}
export function openEncoder(): Encoder {
  users++;
  return {
    encode(lines, options) {
      const current: EncoderThread = (thread ??= new EncoderThread(() => {
        if (thread === current) thread = undefined;
      }));
      return current.encode(lines, options);
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
