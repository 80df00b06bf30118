/**
 * The embedded log for several threads. `shareLog` makes a log usable from another thread, where `sharedLog` asks for everything but what ingest appends,
 * if it has the topics of ingest. Groups are read in the thread that has the log.
 */
import type { ErrorClasses, ThreadLink } from '../../runtime/thread-link.ts';
import type { IngestLog, LmdbLog } from './lmdb.ts';
import {
  type Append,
  type AppendResult,
  type EventLog,
  LogUnavailable,
  type PackedRange,
  type PackedRecords,
  type ReadRange,
  RecordTooLarge,
  type StoredRecord,
} from './port.ts';

export const LOG_ERRORS: ErrorClasses = { LogUnavailable, RecordTooLarge };

/** What a record is on its way: a stored record is a view of its block. */
type Plain = Pick<StoredRecord, 'id' | 'data' | 'position' | 'time'>;
/** Methods whose arguments and results are plain data. */
const PLAIN = ['append', 'remove', 'expire', 'erase', 'lag', 'topics', 'groups'] as const;
/** Records in one answer, and the bytes after which it has no more of them: to copy these takes a fraction of a millisecond. */
const PAGE = 128;
const PAGE_BYTES = 262_144;
/** Records of `getMany` that are in memory at the same time. */
const AT_ONCE = 16;
const LOOK_MS = 500;

/** The first records of what was asked for; `complete` if these are all. */
interface Page<T> {
  records: T[];
  complete: boolean;
}

/** `close` before the log closes. */
export function shareLog(link: ThreadLink, log: EventLog): { close(): Promise<void> } {
  for (const method of PLAIN)
    link.answer(`log.${method}`, (args: unknown[]) => (log[method] as (...args: unknown[]) => Promise<unknown>).apply(log, args));
  link.answer('log.getMany', async ([topic, positions]: [string, string[]]) => {
    const records: (Plain | undefined)[] = [];
    let bytes = 0;
    for (let from = 0; from < positions.length && bytes < PAGE_BYTES; from += AT_ONCE)
      for (const record of await log.getMany(topic, positions.slice(from, from + AT_ONCE))) {
        records.push(record && plain(record));
        bytes += record?.data.length ?? 0;
      }
    return { records, complete: records.length === positions.length } satisfies Page<Plain | undefined>;
  });
  link.answer('log.read', async ([topic, range]: [string, ReadRange]) => {
    const records: Plain[] = [];
    let bytes = 0;
    for await (const record of log.read(topic, { ...range, limit: Math.min(range.limit, PAGE) })) {
      records.push(plain(record));
      bytes += record.data.length;
      if (bytes >= PAGE_BYTES) return { records, complete: false } satisfies Page<Plain>;
    }
    return { records, complete: records.length < PAGE } satisfies Page<Plain>;
  });
  link.answer('log.readPacked', async ([topic, range]: [string, PackedRange]) => {
    for await (const packed of log.readPacked(topic, range)) return packed;
    return undefined;
  });
  let told = true;
  const tellAvailable = () => {
    if (log.available === told) return;
    told = log.available;
    link.tell('log.available', told);
  };
  tellAvailable();
  // A reader that opened later has not heard what was told before.
  link.on('log.opened', () => {
    told = log.available;
    link.tell('log.available', told);
  });
  const timer = setInterval(tellAvailable, LOOK_MS).unref();
  return { close: async () => clearInterval(timer) };
}

/** Tells the readers of the log of what ingest appends in the other thread. */
export function followIngest(link: ThreadLink, log: LmdbLog): void {
  link.on('log.grown', ([topic, next]: [string, number]) => log.grown(topic, next));
}
function plain({ id, data, position, time }: StoredRecord): Plain {
  return { id, data: new Uint8Array(data), position, time };
}

/** `ingest`: what this thread appends itself. */
export function sharedLog(link: ThreadLink, ingest?: IngestLog): EventLog {
  const ask = <T>(method: string, ...args: unknown[]) => link.call<T>(`log.${method}`, args);
  const elsewhere = () => {
    throw new Error('groups are read in the thread that has the log');
  };
  let available = true;
  let closed = false;
  link.on('log.available', (now: boolean) => (available = now));
  link.tell('log.opened', undefined);
  const getMany: EventLog['getMany'] = async (topic, positions) => {
    const found: (StoredRecord | undefined)[] = [];
    for (;;) {
      const { records, complete } = await ask<Page<StoredRecord | undefined>>('getMany', topic, positions.slice(found.length));
      found.push(...records);
      if (complete) return found;
    }
  };
  return {
    atomic: true,
    get available() {
      return ingest?.available ?? (available && !closed);
    },
    async append(appends) {
      if (closed) throw new LogUnavailable('the log is closed');
      if (ingest === undefined) return ask('append', appends.map(copied));
      const own = appends.filter(isIngest);
      if (own.length === appends.length) return ingest.append(appends);
      const others = appends.filter((append) => !isIngest(append)).map(copied);
      const [stored, asked] = await Promise.all([ingest.append(own), ask<AppendResult[]>('append', others)]);
      return appends.map((append) => (isIngest(append) ? stored : asked).shift()!);
    },
    ackAll: elsewhere,
    consume: elsewhere,
    async *read(topic, range) {
      let { after } = range;
      for (let { limit } = range; limit > 0; ) {
        const { records, complete } = await ask<Page<StoredRecord>>('read', topic, {
          ...range,
          limit,
          ...(after !== undefined && { after }),
        });
        yield* records;
        if (complete) return;
        limit -= records.length;
        after = records.at(-1)!.position;
      }
    },
    async *readPacked(topic, range) {
      let { limit, after } = range;
      while (limit > 0) {
        const packed = await ask<PackedRecords | undefined>('readPacked', topic, {
          ...range,
          limit,
          ...(after !== undefined && { after }),
        });
        if (packed === undefined) return;
        yield packed;
        limit -= packed.ends.length;
        after = packed.oldest;
      }
    },
    get: async (topic, position) => (await getMany(topic, [position]))[0],
    getMany,
    remove: (...args) => ask('remove', ...args),
    expire: (...args) => ask('expire', ...args),
    erase: (...args) => ask('erase', ...args),
    lag: (...args) => ask('lag', ...args),
    topics: (...args) => ask('topics', ...args),
    groups: (...args) => ask('groups', ...args),
    async close() {
      closed = true;
      await ingest?.close();
    },
  };
}
const isIngest = ({ topic }: Append) => topic.startsWith('ingest.');
/** The data alone, not the buffer that it may be a part of. */
function copied({ topic, records }: Append): Append {
  return { topic, records: records.map(({ id, data }) => ({ id, data: new Uint8Array(data) })) };
}
