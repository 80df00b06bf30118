/** The thread that reads rows and events beside the main one: a slow query delays other queries, but no event. */
import { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { sentError } from '../../runtime/sent-error.ts';
import { adaptStatement } from '../sqlite-statement.ts';
import type { Answered, ReadCall, ReadCalls, ReadReply, ReadRequest, Statement } from './read-thread-messages.ts';
import type { ObserveDb } from './schema.ts';

const BUSY_MS = 2_000;
/** A statement over a hundred segments takes some hundred kilobytes. */
const MAX_CACHED_STATEMENTS = 48;
const CACHE_KB = 8_192;

export function start(port: MessagePort, { file }: { file: string | undefined }): void {
  const calls = callsOn(file);
  port.on('message', async ({ id, call, parameters }: ReadRequest) => {
    const called = calls[call] as (...parameters: unknown[]) => unknown;
    const reply = await answer(id, async () => called(...parameters));
    // Bytes change hands. A copy of megabytes would hold up the other thread.
    const bytes = 'result' in reply && reply.result instanceof Uint8Array ? [reply.result.buffer as ArrayBuffer] : [];
    port.postMessage(reply, bytes);
  });
}

async function answer(id: number, work: () => Promise<unknown>): Promise<ReadReply> {
  try {
    return { id, result: await work() };
  } catch (error) {
    return { id, error: sentError(error) };
  }
}

/** Code is loaded with the first call that needs it: many processes are only asked for statistics. */
function callsOn(file: string | undefined): { [C in ReadCall]: (...parameters: Parameters<ReadCalls[C]>) => unknown } {
  const connections = { read: connect(file), write: connect(file) };
  const fields = once(async () => new (await import('./event-fields.ts')).EventFields());
  const observe = once(async (): Promise<ObserveDb> => (await import('./thread-dialect.ts')).observeHere(connections.read));
  return {
    statement: (statement) => run(connections.read, statement),
    transactionStatement: (statement) => run(connections.write, statement),
    listTraces: async (filter) => (await import('./list-traces.ts')).listTraces(await observe(), filter),
    findTrace: async (...of) => (await import('./traces.ts')).findTrace(await observe(), ...of),
    statisticsJson: async (query) => (await import('./statistics.ts')).statisticsJson(await observe(), query),
    collectFields: async (chunk) => (await fields()).collect(chunk),
  };
}
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

function run(connection: SqliteDatabase, { sql, parameters }: Statement): Answered {
  const statement = connection.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters), changes: 0 };
  return { rows: [], changes: Number(statement.run(parameters).changes) };
}

/** Opens the file with the first statement: most processes never begin a transaction here. */
function connect(file: string | undefined): SqliteDatabase {
  let database: DatabaseSync | undefined;
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(sql) {
      if (file === undefined) throw new Error('this thread has no SQLite file');
      if (database === undefined) {
        database = new DatabaseSync(file, { timeout: BUSY_MS });
        database.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${CACHE_KB};`);
      }
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = adaptStatement(database.prepare(sql));
        if (statements.size >= MAX_CACHED_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
      } else statements.delete(sql);
      // The last used are last.
      statements.set(sql, statement);
      return statement;
    },
    close: () => database?.close(),
  };
}
