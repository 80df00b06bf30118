import { PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { whenLate } from '../../runtime/late.ts';
import { isConnectionLost } from './availability.ts';

/** Bounds how long a request waits for an unreachable or frozen database. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_500;
/** The driver's own limit, for a server that never answers. Until then a connection goes on opening, for the next request. */
const GIVE_UP_MS = 10_000;
const MAX_CONNECTIONS = 10;
const INT8_OID = 20;

/** The driver is loaded with the first connection: an installation on SQLite never needs it. */
export function postgresDialect(databaseUrl: string, onError: (error: Error) => void): PostgresDialect {
  return new PostgresDialect({ pool: () => openPool(databaseUrl, onError) });
}

async function openPool(databaseUrl: string, onError: (error: Error) => void): Promise<PostgresPool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: GIVE_UP_MS,
    keepAlive: true,
    application_name: 'firsthand',
    // Parse int8 as numbers: counters are far below 2^53, and text would compare wrongly.
    types: { getTypeParser: (oid, format) => (oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format)) },
  });
  // Without a listener, an idle connection closed by the server would crash the process.
  pool.on('error', onError);
  return { options: pool.options, end: () => pool.end(), connect: async () => disposable(await connectInTime(pool)) };
}

async function connectInTime(pool: pg.Pool): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  try {
    return await inTime(connecting, CONNECT_TIMEOUT_MS, 'timeout exceeded when trying to connect');
  } catch (error) {
    // It may still open. An error is the one that is thrown here, or of no interest any more.
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw error;
  }
}

/** Instead of the driver's own time limit: see `whenLate`. */
function inTime<T>(answer: Promise<T>, ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = whenLate(ms, () => reject(new Error(message)));
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

/**
 * A client whose query timed out still waits for that response. Any later query, starting with the rollback, would wait just as long. So
 * the connection is destroyed: later queries fail at once, and the pool opens a new one.
 */
function disposable(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined;
  // The pool listens only to idle connections. Without this listener, a checked-out connection that breaks between two queries would crash
  // the process.
  const onError = (error: Error) => {
    broken ??= error;
  };
  client.on('error', onError);
  const query = async (text: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken;
    try {
      return await inTime(client.query(text, [...parameters]), QUERY_TIMEOUT_MS, 'Query read timeout');
    } catch (error) {
      if (isConnectionLost(error)) broken = error as Error;
      throw error;
    }
  };
  const release = () => {
    client.off('error', onError);
    client.release(broken);
  };
  return { query, release } as unknown as PostgresPoolClient; // its overload for cursors is not used
}
