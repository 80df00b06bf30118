/** The thread that runs queries on the SQLite file. A slow query delays other queries, but no event. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { Answered, ReadReply, ReadRequest, Statement } from './read-thread-messages.ts';

const BUSY_MS = 2_000;
/** A statement over a hundred segments takes some hundred kilobytes. */
const MAX_CACHED_STATEMENTS = 48;
const CACHE_KB = 8_192;

export function serve(port: MessagePort, { file }: { file: string }): void {
  const connections = { read: connect(file), write: connect(file) };
  port.on('message', ({ id, connection, sql, parameters }: ReadRequest) => {
    port.postMessage(answer(id, () => connections[connection]({ sql, parameters })));
  });
}

function answer(id: number, run: () => Answered): ReadReply {
  try {
    return { id, ...run() };
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
    return { id, error: { message, code, errcode } };
  }
}

/** Opens the file with the first statement: most processes never begin a transaction here. */
function connect(file: string): (statement: Omit<Statement, 'connection'>) => Answered {
  let database: DatabaseSync | undefined;
  const statements = new Map<string, StatementSync>();
  return ({ sql, parameters }) => {
    if (database === undefined) {
      database = new DatabaseSync(file, { timeout: BUSY_MS });
      database.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${CACHE_KB};`);
    }
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (statements.size >= MAX_CACHED_STATEMENTS) statements.delete(statements.keys().next().value ?? '');
      statements.set(sql, statement);
    }
    if (statement.columns().length > 0) return { rows: statement.all(...(parameters as SQLInputValue[])), changes: 0 };
    return { rows: [], changes: Number(statement.run(...(parameters as SQLInputValue[])).changes) };
  };
}
