/** Owns the thread of `read-thread-entry.ts`: starts it with a call, ends it when there were none for a while, and replaces it when it dies. */
import { type Transferable, Worker } from 'node:worker_threads';
import { receivedError } from '../../runtime/sent-error.ts';
import { threadEntry } from '../../runtime/thread-entry.ts';
import type { ReadCall, ReadCalls, ReadReply, ReadRequest, ReadResult } from './read-thread-messages.ts';

/** Calls that wait or run. The next one is refused: its request gets 503 instead of joining a queue that only grows. */
const MOST_WAITING = 256;
/** As long as a query on PostgreSQL may take. */
const DEADLINE_MS = 5_000;
/** The first call of a kind, and each call behind it, also waits until the thread has loaded its code: seconds on a busy machine. */
const FIRST_DEADLINE_MS = 30_000;
const YOUNG_MB = 8;
/** Longer than any pause between two statements of a transaction, or two chunks of a sample, which would be lost. */
const IDLE_MS = 60_000;

interface Waiting {
  call: ReadCall;
  resolve(result: unknown): void;
  reject(error: Error): void;
  deadline: NodeJS.Timeout;
}

export class ReadThread {
  readonly #file: string | undefined;
  readonly #waiting = new Map<number, Waiting>();
  /** The calls that the present thread has answered. */
  readonly #answered = new Set<ReadCall>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;
  readonly #idle: NodeJS.Timeout;
  readonly #deadlineMs: number;

  /** `file`: of SQLite. Undefined where PostgreSQL has the rows. */
  constructor(file: string | undefined, { idleMs = IDLE_MS, deadlineMs = DEADLINE_MS } = {}) {
    this.#file = file;
    this.#deadlineMs = deadlineMs;
    this.#idle = setTimeout(() => this.#endIdle(), idleMs).unref();
  }

  /** `transfer`: buffers in the parameters that the caller needs no more. A late answer is not waited for; the thread finishes the call. */
  call<C extends ReadCall>(call: C, parameters: Parameters<ReadCalls[C]>, transfer?: Transferable[]): Promise<ReadResult<C>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw busy('the trace store is closed');
      if (this.#waiting.size >= MOST_WAITING) throw busy('too many queries wait for the trace store');
      const id = ++this.#lastId;
      const worker = (this.#worker ??= this.#start());
      const calls = [call, ...Array.from(this.#waiting.values(), (waiting) => waiting.call)];
      const deadlineMs = calls.every((one) => this.#answered.has(one)) ? this.#deadlineMs : FIRST_DEADLINE_MS;
      const deadline = setTimeout(() => {
        this.#waiting.delete(id);
        reject(busy(`the trace store did not answer within ${deadlineMs} ms`));
        // Without this, the transaction of this statement would never end. The end of the thread rolls it back.
        if (call === 'transactionStatement') void worker.terminate();
      }, deadlineMs);
      // The thread answers a call with its result.
      this.#waiting.set(id, { call, resolve: (result) => resolve(result as ReadResult<C>), reject, deadline });
      worker.postMessage({ id, call, parameters } satisfies ReadRequest, transfer);
      this.#idle.refresh();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #start(): Worker {
    this.#answered.clear();
    const worker = new Worker(threadEntry(new URL('./read-thread-entry.ts', import.meta.url)), {
      eval: true,
      workerData: { file: this.#file },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    worker.unref();
    worker.on('message', (reply: ReadReply) => this.#settle(reply));
    worker.on('error', (error) => this.#ended(worker, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => this.#ended(worker, busy('the read thread of the trace store exited')));
    return worker;
  }

  #endIdle(): void {
    if (this.#waiting.size > 0) return void this.#idle.refresh();
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #settle(reply: ReadReply): void {
    const waiting = this.#waiting.get(reply.id);
    if (waiting === undefined) return;
    this.#waiting.delete(reply.id);
    this.#answered.add(waiting.call);
    clearTimeout(waiting.deadline);
    if ('error' in reply) waiting.reject(receivedError(reply.error));
    else waiting.resolve(reply.result);
  }
  #ended(worker: Worker, error: Error): void {
    if (this.#worker !== worker && this.#worker !== undefined) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, deadline } of waiting) {
      clearTimeout(deadline);
      reject(error);
    }
  }
}

/** Looks like SQLite's own "busy", so that the API answers 503 with `Retry-After`. */
function busy(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
}
