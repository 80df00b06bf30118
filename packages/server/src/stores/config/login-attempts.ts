import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from './schema.ts';

const WINDOW_MS = 60_000;
export const FAILURES_TO_LOCK = 5;
export const LOCK_MS = 15 * 60_000;

export function addressHash(email: string): string {
  return createHash('sha256').update(email).digest('hex');
}

export interface AttemptState {
  attempts: number;
  window_ends_ms: number;
  locked_until_ms: number;
}
/** Counts this attempt and says how the address stands. In the database, so that it holds on every process. */
export async function countAttempt(db: Db, address: string, now: number): Promise<AttemptState> {
  const row = await db
    .insertInto('login_attempts')
    .values({ address_hash: address, window_started_ms: now, attempts: 1, failures: 0, locked_until_ms: 0 })
    .onConflict((conflict) =>
      conflict.column('address_hash').doUpdateSet({
        attempts: sql`case when login_attempts.window_started_ms <= ${now - WINDOW_MS} then 1 else login_attempts.attempts + 1 end`,
        window_started_ms: sql`case when login_attempts.window_started_ms <= ${now - WINDOW_MS} then ${now} else login_attempts.window_started_ms end`,
      }),
    )
    .returning(['attempts', 'window_started_ms', 'locked_until_ms'])
    .executeTakeFirstOrThrow();
  return { attempts: row.attempts, window_ends_ms: row.window_started_ms + WINDOW_MS, locked_until_ms: row.locked_until_ms };
}

/** The fifth failure in a row locks the address and starts the count again. True where this one did. */
export async function noteFailure(tx: Db, address: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('login_attempts')
    .set({
      locked_until_ms: sql`case when failures + 1 >= ${FAILURES_TO_LOCK} then ${now + LOCK_MS} else locked_until_ms end`,
      failures: sql`case when failures + 1 >= ${FAILURES_TO_LOCK} then 0 else failures + 1 end`,
    })
    .where('address_hash', '=', address)
    .returning('locked_until_ms')
    .executeTakeFirst();
  return row !== undefined && row.locked_until_ms === now + LOCK_MS;
}

/** Ends the run of failures. False where parallel guesses have locked the address meanwhile: a right guess among them must not pass. */
export async function noteSuccess(tx: Db, address: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('login_attempts')
    .set({ failures: 0 })
    .where('address_hash', '=', address)
    .where('locked_until_ms', '<=', now)
    .returning('address_hash')
    .executeTakeFirst();
  return row !== undefined;
}

export async function unlockAddress(tx: Db, address: string): Promise<void> {
  await tx.deleteFrom('login_attempts').where('address_hash', '=', address).execute();
}

/** Addresses that nobody has tried for a day, so that strangers' guesses do not pile up. */
export async function forgetOldAttempts(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('login_attempts')
    .where('window_started_ms', '<', now - 86_400_000)
    .execute();
}
