import { sql } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import { isLostRace } from './availability.ts';
import { engineOf } from './open.ts';
import type { Db } from './schema.ts';

/** How long a transaction waits for others. Longer than several of them take on a busy machine, shorter than proxies wait for an answer. */
export const WAIT_MS = 10_000;
/** Well below the time limit of a query, which ends the connection but not its place in the queue for the lock. */
const LOCK_MS = 1_000;

export interface TransactionDeps {
  db: Db;
  clock: Pick<Clock, 'monotonic'>;
  /** Aborted when the process stops and will soon cut its connections: then nothing waits for others any more. */
  closing?: AbortSignal | undefined;
}

/**
 * A transaction that waits for the locks of others. One that did not get a lock in time was rolled back, and is repeated until the deadline:
 * `work` must do nothing that the transaction does not roll back.
 */
export async function inTransaction<T>(
  { db, clock, closing }: TransactionDeps,
  work: (tx: Db) => Promise<T>,
  deadline = clock.monotonic() + WAIT_MS,
): Promise<T> {
  for (;;) {
    try {
      return await db.transaction().execute(async (tx) => {
        if (engineOf(tx) === 'postgres') await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(tx);
        return await work(tx);
      });
    } catch (error) {
      if (!isLostRace(error) || closing?.aborted || clock.monotonic() > deadline) throw error;
    }
  }
}
