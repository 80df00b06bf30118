import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from './schema.ts';

const WINDOW_MS = 60_000;
const FAILURES_TO_LOCK = 5;
const LOCK_MS = 15 * 60_000;
const FORGET_ATTEMPTS_MS = 86_400_000;
const FORGET_PLACES_MS = 90 * 86_400_000;

/**
 * From unknown places attempts are counted per e-mail address, client address and network. `known` counts the attempts of an e-mail address
 * from places where it signed in before: strangers cannot use them up or lock them. Keys are hashes.
 */
export type CountedBy = 'email' | 'known' | 'client' | 'network';

export function attemptKey(kind: CountedBy, value: string): string {
  // E-mail keys have no prefix, for compatibility with earlier versions.
  return sha256(kind === 'email' ? value : `${kind}\0${value}`);
}
export function placeKey(email: string, network: string): string {
  return sha256(`place\0${email}\0${network}`);
}
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export interface AttemptState {
  attempts: number;
  window_ends_ms: number;
  locked_until_ms: number;
}
/** Counts one attempt per key and returns their states in the order of the keys. Stored in the database, so it holds across processes. */
export async function countAttempts(db: Db, keys: readonly string[], now: number): Promise<AttemptState[]> {
  // Sorted, so that all writers lock in the same order and parallel statements cannot deadlock.
  const sorted = [...keys].sort();
  const rows = await db
    .insertInto('login_attempts')
    .values(sorted.map((address_hash) => ({ address_hash, window_started_ms: now, attempts: 1, failures: 0, locked_until_ms: 0 })))
    .onConflict((conflict) =>
      conflict.column('address_hash').doUpdateSet({
        attempts: sql`case when login_attempts.window_started_ms <= ${now - WINDOW_MS} then 1 else login_attempts.attempts + 1 end`,
        window_started_ms: sql`case when login_attempts.window_started_ms <= ${now - WINDOW_MS} then ${now} else login_attempts.window_started_ms end`,
      }),
    )
    .returning(['address_hash', 'attempts', 'window_started_ms', 'locked_until_ms'])
    .execute();
  const states = new Map(
    rows.map((row) => [
      row.address_hash,
      { attempts: row.attempts, window_ends_ms: row.window_started_ms + WINDOW_MS, locked_until_ms: row.locked_until_ms },
    ]),
  );
  return keys.map((key) => states.get(key) ?? { attempts: 0, window_ends_ms: now, locked_until_ms: 0 });
}

export async function lockedUntil(db: Db, key: string): Promise<number> {
  const row = await db.selectFrom('login_attempts').select('locked_until_ms').where('address_hash', '=', key).executeTakeFirst();
  return row?.locked_until_ms ?? 0;
}

/** The fifth failure in a row locks the address and restarts the count. Returns whether this failure locked it. */
export async function recordFailure(tx: Db, key: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('login_attempts')
    .set({
      locked_until_ms: sql`case when failures + 1 >= ${FAILURES_TO_LOCK} then ${now + LOCK_MS} else locked_until_ms end`,
      failures: sql`case when failures + 1 >= ${FAILURES_TO_LOCK} then 0 else failures + 1 end`,
    })
    .where('address_hash', '=', key)
    .returning('locked_until_ms')
    .executeTakeFirst();
  return row !== undefined && row.locked_until_ms === now + LOCK_MS;
}

/**
 * Resets the failure count. Returns false if parallel guesses locked the address in the meantime: a correct guess among them must not
 * pass.
 */
export async function recordSuccess(tx: Db, key: string, now: number): Promise<boolean> {
  const row = await tx
    .updateTable('login_attempts')
    .set({ failures: 0 })
    .where('address_hash', '=', key)
    .where('locked_until_ms', '<=', now)
    .returning('address_hash')
    .executeTakeFirst();
  return row !== undefined;
}

/** A place that becomes known continues the minute of the stranger: signing in does not start a new one. */
export async function carryMinute(tx: Db, fromKey: string, toKey: string): Promise<void> {
  const from = await tx.selectFrom('login_attempts').selectAll().where('address_hash', '=', fromKey).executeTakeFirst();
  if (from === undefined) return;
  const { window_started_ms, attempts } = from;
  await tx
    .insertInto('login_attempts')
    .values({ address_hash: toKey, window_started_ms, attempts, failures: 0, locked_until_ms: 0 })
    .onConflict((conflict) =>
      conflict
        .column('address_hash')
        .doUpdateSet({ window_started_ms, attempts })
        .where('login_attempts.window_started_ms', '<', window_started_ms),
    )
    .execute();
}

/** At known places and for strangers. */
export async function unlockAddress(tx: Db, email: string): Promise<void> {
  const keys = [attemptKey('email', email), attemptKey('known', email)];
  await tx.deleteFrom('login_attempts').where('address_hash', 'in', keys).execute();
}

/** Whether this account has signed in from this network before. Only a correct password makes a place known. */
export async function isKnownPlace(db: Db, key: string): Promise<boolean> {
  const row = await db.selectFrom('login_places').select('seen_ms').where('place_hash', '=', key).executeTakeFirst();
  return row !== undefined;
}

export async function rememberPlace(tx: Db, key: string, now: number): Promise<void> {
  await tx
    .insertInto('login_places')
    .values({ place_hash: key, seen_ms: now })
    .onConflict((conflict) => conflict.column('place_hash').doUpdateSet({ seen_ms: now }))
    .execute();
}

/** Deletes attempts after a day, and places after 90 days without use. */
export async function deleteOldAttempts(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('login_attempts')
    .where('window_started_ms', '<', now - FORGET_ATTEMPTS_MS)
    .execute();
  await db
    .deleteFrom('login_places')
    .where('seen_ms', '<', now - FORGET_PLACES_MS)
    .execute();
}
