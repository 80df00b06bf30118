/** Owns the thread of `read-thread-entry.ts`: starts it with a statement, ends it when there were none for a while, and replaces it when it dies. */
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../../runtime/thread-entry.ts';
import type { Answered, ReadReply, ReadRequest, Statement } from './read-thread-messages.ts';

/** Statements that wait or run. The next one is refused: its request gets 503 instead of joining a queue that only grows. */
const MOST_WAITING = 256;
/** As long as a query on PostgreSQL may take. */
const DEADLINE_MS = 5_000;
const YOUNG_MB = 8;
/** Longer than any pause between two statements of a transaction, which would be lost. */
const IDLE_MS = 60_000;

interface Waiting {
  resolve(answered: Answered): void;
  reject(error: Error): void;
  deadline: NodeJS.Timeout;
}

export class ReadThread {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #closed = false;
  readonly #idle: NodeJS.Timeout;

  constructor(file: string, idleMs = IDLE_MS) {
    this.#file = file;
    this.#idle = setTimeout(() => this.#endIdle(), idleMs).unref();
  }

  /** `deadlineMs`: the answer is not waited for any longer. The thread itself finishes the statement. */
  run(statement: Statement, deadlineMs = DEADLINE_MS): Promise<Answered> {
    if (this.#closed) return Promise.reject(busy('the trace store is closed'));
    if (this.#waiting.size >= MOST_WAITING) return Promise.reject(busy('too many queries wait for the trace store'));
    const id = ++this.#lastId;
    const worker = (this.#worker ??= this.#start());
    return new Promise<Answered>((resolve, reject) => {
      const deadline = setTimeout(() => {
        this.#waiting.delete(id);
        reject(busy(`the trace store did not answer within ${deadlineMs} ms`));
        // Without this, the transaction of this statement would never end. The end of the thread rolls it back.
        if (statement.connection === 'write') void worker.terminate();
      }, deadlineMs);
      this.#waiting.set(id, { resolve, reject, deadline });
      worker.postMessage({ id, ...statement } satisfies ReadRequest);
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
    const worker = new Worker(threadEntry(new URL('./read-thread-entry.ts', import.meta.url), 'serve'), {
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
    clearTimeout(waiting.deadline);
    if ('error' in reply) waiting.reject(Object.assign(new Error(reply.error.message), reply.error));
    else waiting.resolve(reply);
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
