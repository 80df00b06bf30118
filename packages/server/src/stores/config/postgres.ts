import { PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isConnectionLost } from './availability.ts';

/** Bounds how long a request waits on a database that is away or frozen. */
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 2_500;
const MAX_CONNECTIONS = 10;
const INT8_OID = 20;

export function postgresDialect(databaseUrl: string, onError: (error: Error) => void): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'firsthand',
    // Counters and counts are far below 2^53; as text they would compare wrongly.
    types: { getTypeParser: (oid, format) => (oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format)) },
  });
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', onError);
  return new PostgresDialect({
    pool: {
      options: pool.options,
      end: () => pool.end(),
      connect: async () => disposable(await pool.connect()),
    } as ConstructorParameters<typeof PostgresDialect>[0]['pool'] & object,
  });
}

/**
 * A client whose query timed out still waits for that answer: anything sent after it, the rollback first, would wait as long again.
 * Such a connection is cut, so that what follows fails at once and the pool opens a new one.
 */
function disposable(client: pg.PoolClient): PostgresPoolClient {
  let broken: Error | undefined;
  // The pool listens to idle connections only: one that breaks in our hands between two queries would end the process.
  const onError = (error: Error) => {
    broken ??= error;
  };
  client.on('error', onError);
  const query = async (text: string, parameters: readonly unknown[]) => {
    if (broken !== undefined) throw broken;
    try {
      return await client.query(text, [...parameters]);
    } catch (error) {
      if (isConnectionLost(error)) broken = error as Error;
      throw error;
    }
  };
  const release = () => {
    client.off('error', onError);
    client.release(broken);
  };
  return { query, release } as unknown as PostgresPoolClient;
}
