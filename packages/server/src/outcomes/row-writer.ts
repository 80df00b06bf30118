/** Owns the thread of `row-writer-thread.ts`: starts it with the first request, and replaces it when it dies. */
import { Worker } from 'node:worker_threads';
import { readEventRecordId } from '../event-record.ts';
import { receivedError } from '../runtime/sent-error.ts';
import { isFullDisk, SpaceWait } from '../runtime/space-wait.ts';
import { threadEntry } from '../runtime/thread-entry.ts';
import type { StoredRecord } from '../stores/event-log/port.ts';
import type { ExpiringTrace, RowAges, Swept } from '../stores/observe/sweep.ts';
import {
  packRecords,
  type Recorded,
  type RowWriterNotice,
  type RowWriterReply,
  type RowWriterRequest,
  type RowWriterSettings,
} from './row-writer-messages.ts';

/** Rows are short-lived garbage: a small young generation suffices and saves memory. */
const YOUNG_MB = 8;
/**
 * Ten times what the thread needs. With a limit this low V8 lets the heap grow by a third between collections; with a higher one it may
 * triple.
 */
const OLD_MB = 256;

type Asked = RowWriterRequest extends infer R ? (R extends RowWriterRequest ? Omit<R, 'id'> : never) : never;

export class RowWriter {
  readonly #settings: RowWriterSettings;
  readonly #waiting = new Map<number, { worker: Worker; resolve(reply: RowWriterReply): void; reject(error: Error): void }>();
  readonly #onConnectionLost: (error: Error) => void;
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #space: SpaceWait;
  /** The disk is full: what the last write failed with. */
  #full: Error | undefined;

  constructor(settings: RowWriterSettings, onConnectionLost: (error: Error) => void) {
    this.#settings = settings;
    this.#onConnectionLost = onConnectionLost;
    this.#space = new SpaceWait(settings.dataDir);
  }

  /** Writes the records that are new: all of them with `anew`. Resolves when they are committed. */
  async record(topic: string, records: readonly StoredRecord[], anew = false): Promise<Recorded> {
    const packed = packRecords(records);
    const reply = await this.#ask({ kind: 'record', topic, records: packed, anew }, [packed.bytes.buffer]);
    if (!('counted' in reply)) throw new Error('the row-writer thread sent a reply of another kind');
    const { counted, unreadable, refused, spans } = reply;
    return { counted, unreadable, ...(refused && { refused }), spans };
  }

  /** Of the last record that was written; empty before the first. */
  async position(topic: string): Promise<string> {
    const reply = await this.#ask({ kind: 'position', topic });
    if (!('position' in reply)) throw new Error('the row-writer thread sent a reply of another kind');
    return reply.position;
  }

  /** Removes the dead letters of events. `records`: the ids of the events' records. */
  async removeLetters(records: readonly string[]): Promise<void> {
    if (records.length > 0) await this.#ask({ kind: 'letters', events: records.map(readEventRecordId) });
  }

  /** See `sweepRows`. */
  async sweep(ages: RowAges, queued: readonly ExpiringTrace[] = []): Promise<Swept> {
    const reply = await this.#ask({ kind: 'sweep', ages, queued });
    if (!('removed' in reply)) throw new Error('the row-writer thread sent a reply of another kind');
    return { removed: reply.removed, adopted: reply.adopted, expiring: reply.expiring };
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #ask(request: Asked, transfer: ArrayBuffer[] = []): Promise<RowWriterReply> {
    if (this.#full !== undefined && request.kind !== 'position' && !this.#space.isOver()) throw this.#full;
    const id = ++this.#lastId;
    const worker = (this.#worker ??= this.#start());
    const reply = await new Promise<RowWriterReply>((resolve, reject) => {
      this.#waiting.set(id, { worker, resolve, reject });
      worker.postMessage({ id, ...request } satisfies RowWriterRequest, transfer);
    });
    const error = 'error' in reply ? receivedError(reply.error) : undefined;
    this.#noteSpace(request, error);
    if (error !== undefined) throw error;
    return reply;
  }

  #noteSpace({ kind }: Asked, error: Error | undefined): void {
    if (kind === 'position') return;
    this.#full = error !== undefined && isFullDisk(error) ? error : undefined;
    if (this.#full === undefined) this.#space.succeeded();
    else this.#space.failed();
  }

  #start(): Worker {
    const worker = new Worker(threadEntry(new URL('./row-writer-thread.ts', import.meta.url)), {
      eval: true,
      workerData: this.#settings,
      resourceLimits: { maxOldGenerationSizeMb: OLD_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    worker.unref();
    worker.on('message', (reply: RowWriterReply | RowWriterNotice) => {
      if ('connection_lost' in reply) return this.#onConnectionLost(receivedError(reply.connection_lost));
      this.#waiting.get(reply.id)?.resolve(reply);
      this.#waiting.delete(reply.id);
    });
    worker.on('error', (error) => this.#ended(worker, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => this.#ended(worker, new Error('the row-writer thread exited')));
    return worker;
  }
  /** The next thread may have requests already. */
  #ended(worker: Worker, error: Error): void {
    if (this.#worker === worker) this.#worker = undefined;
    for (const [id, waiting] of this.#waiting) {
      if (waiting.worker !== worker) continue;
      this.#waiting.delete(id);
      waiting.reject(error);
    }
  }
}
