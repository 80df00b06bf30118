/**
 * The embedded log for two threads. `shareLog` makes a log usable from another thread, where `sharedLog` appends to the topics of ingest itself and asks
 * for the rest. Groups are read in the thread that has the log.
 */
import type { ErrorClasses, ThreadLink } from '../../runtime/thread-link.ts';
import type { IngestLog, LmdbLog } from './lmdb.ts';
import {
  type Append,
  type AppendResult,
  type EventLog,
  LogUnavailable,
  type PackedRecords,
  type ReadRange,
  RecordTooLarge,
  type StoredRecord,
} from './port.ts';

export const LOG_ERRORS: ErrorClasses = { LogUnavailable, RecordTooLarge };

/** What a record is on its way: a stored record is a view of its block. */
type Plain = Pick<StoredRecord, 'id' | 'data' | 'position' | 'time'>;
type PlainPack = Omit<PackedRecords, 'positionOf'> & { positions: string[] };
/** Methods whose arguments and results are plain data. */
const PLAIN = ['append', 'remove', 'expire', 'erase', 'lag', 'topics', 'groups'] as const;
/** Records in one answer. */
const PAGE = 128;

/** `grown` of the log is called as the other thread stores records. */
export function shareLog(link: ThreadLink, log: LmdbLog): void {
  for (const method of PLAIN)
    link.answer(`log.${method}`, (args: unknown[]) => (log[method] as (...args: unknown[]) => Promise<unknown>).apply(log, args));
  link.answer('log.getMany', async ([topic, positions]: [string, string[]]) =>
    (await log.getMany(topic, positions)).map((record) => record && plain(record)),
  );
  link.answer('log.read', async ([topic, range]: [string, ReadRange]) => {
    const records: Plain[] = [];
    for await (const record of log.read(topic, range)) records.push(plain(record));
    return records;
  });
  link.answer('log.readPacked', async ([topic, range]: [string, Pick<ReadRange, 'to' | 'limit'>]) => {
    const packs: PlainPack[] = [];
    for await (const { bytes, ends, positionOf } of log.readPacked(topic, range))
      packs.push({ bytes, ends, positions: ends.map((_, record) => positionOf(record)) });
    return packs;
  });
  link.on('log.grown', ([topic, next]: [string, number]) => log.grown(topic, next));
}
function plain({ id, data, position, time }: StoredRecord): Plain {
  return { id, data: new Uint8Array(data), position, time };
}

export function sharedLog(link: ThreadLink, ingest: IngestLog): EventLog {
  const ask = <T>(method: string, ...args: unknown[]) => link.call<T>(`log.${method}`, args);
  const elsewhere = () => {
    throw new Error('groups are read in the thread that has the log');
  };
  const getMany: EventLog['getMany'] = (topic, positions) => ask('getMany', topic, positions);
  return {
    atomic: true,
    get available() {
      return ingest.available;
    },
    async append(appends) {
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
      for (let { limit } = range; limit > 0; limit -= PAGE) {
        const most = Math.min(limit, PAGE);
        const page = await ask<StoredRecord[]>('read', topic, { ...range, limit: most, ...(after !== undefined && { after }) });
        yield* page;
        if (page.length < most) return;
        after = page.at(-1)!.position;
      }
    },
    async *readPacked(topic, range) {
      for (const { positions, ...pack } of await ask<PlainPack[]>('readPacked', topic, range))
        yield { ...pack, positionOf: (record) => positions[record]! };
    },
    get: async (topic, position) => (await getMany(topic, [position]))[0],
    getMany,
    remove: (...args) => ask('remove', ...args),
    expire: (...args) => ask('expire', ...args),
    erase: (...args) => ask('erase', ...args),
    lag: (...args) => ask('lag', ...args),
    topics: (...args) => ask('topics', ...args),
    groups: (...args) => ask('groups', ...args),
    close: () => ingest.close(),
  };
}
const isIngest = ({ topic }: Append) => topic.startsWith('ingest.');
/** The data alone, not the buffer that it may be a part of. */
function copied({ topic, records }: Append): Append {
  return { topic, records: records.map(({ id, data }) => ({ id, data: new Uint8Array(data) })) };
}
