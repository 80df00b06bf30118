import type { Db, UserRole } from './schema.ts';

export interface SessionUser {
  id: string;
  org_id: string;
  email: string;
  role: UserRole;
}

/** The user of a valid session: not removed, not disabled, and no token revoked since. */
export function findSessionUser(db: Db, sessionId: string, userId: string): Promise<SessionUser | undefined> {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['users.id', 'users.org_id', 'users.email', 'users.role'])
    .where('sessions.id', '=', sessionId)
    .where('users.id', '=', userId)
    .where('users.status', '=', 'active')
    .whereRef('sessions.token_epoch', '=', 'users.token_epoch')
    .executeTakeFirst();
}

export interface NewSession {
  id: string;
  user_id: string;
  refresh_hash: string;
  expires_at: string;
  now: string;
}
/** Returns false if the user has been removed or disabled in the meantime. */
export async function startSession(tx: Db, session: NewSession): Promise<boolean> {
  const user = await tx
    .selectFrom('users')
    .select('token_epoch')
    .where('id', '=', session.user_id)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (user === undefined) return false;
  await tx
    .insertInto('sessions')
    .values({
      id: session.id,
      user_id: session.user_id,
      token_epoch: user.token_epoch,
      expires_at: session.expires_at,
      created_at: session.now,
    })
    .execute();
  await insertRefreshToken(tx, session.id, session);
  return true;
}

async function insertRefreshToken(tx: Db, sessionId: string, token: Omit<NewSession, 'id'>): Promise<void> {
  const { refresh_hash, user_id, expires_at } = token;
  await tx
    .insertInto('refresh_tokens')
    .values({ token_hash: refresh_hash, session_id: sessionId, user_id, used_at: null, expires_at })
    .execute();
}

export type Rotation = { kind: 'rotated'; session_id: string; user: SessionUser } | { kind: 'reused' } | { kind: 'unknown' };

/**
 * Exchanges a refresh token for the next one. The update decides a race: one of the parallel callers finds the token unused, the others
 * wait for the row lock and find it used. That is reuse, and raising the user's epoch ends all tokens, including the winner's. A token
 * used since `graceSince` does not count as reuse: it continues the session with a new token of its own.
 */
export async function rotateRefreshToken(
  tx: Db,
  tokenHash: string,
  next: { refresh_hash: string; expires_at: string; now: string },
  graceSince?: string,
): Promise<Rotation> {
  const used = await tx
    .updateTable('refresh_tokens')
    .set({ used_at: next.now })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', next.now)
    .returning(['session_id', 'user_id'])
    .executeTakeFirst();
  if (used === undefined) return await judgeUnusable(tx, tokenHash, next, graceSince);
  return await continueSession(tx, used, next);
}

type NextToken = Parameters<typeof rotateRefreshToken>[2];
async function continueSession(tx: Db, used: { session_id: string; user_id: string }, next: NextToken): Promise<Rotation> {
  const user = await findSessionUser(tx, used.session_id, used.user_id);
  if (user === undefined) return { kind: 'unknown' };
  await insertRefreshToken(tx, used.session_id, { ...next, user_id: used.user_id });
  await tx.updateTable('sessions').set({ expires_at: next.expires_at }).where('id', '=', used.session_id).execute();
  return { kind: 'rotated', session_id: used.session_id, user };
}

async function judgeUnusable(tx: Db, tokenHash: string, next: NextToken, graceSince: string | undefined): Promise<Rotation> {
  const known = await tx
    .selectFrom('refresh_tokens')
    .select(['session_id', 'user_id', 'used_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (known === undefined || known.used_at === null) return { kind: 'unknown' };
  if (graceSince !== undefined && known.used_at >= graceSince) return await continueSession(tx, known, next);
  await revokeTokens(tx, known.user_id);
  return { kind: 'reused' };
}

export function findRefreshSession(db: Db, tokenHash: string): Promise<{ session_id: string; user_id: string } | undefined> {
  return db.selectFrom('refresh_tokens').select(['session_id', 'user_id']).where('token_hash', '=', tokenHash).executeTakeFirst();
}

/** Ends the session's access and refresh tokens too. */
export async function endSession(tx: Db, sessionId: string): Promise<void> {
  await tx.deleteFrom('refresh_tokens').where('session_id', '=', sessionId).execute();
  await tx.deleteFrom('sessions').where('id', '=', sessionId).execute();
}

/** Ends every token of the user, except those of `exceptSession`. API tokens stay. */
export async function revokeTokens(tx: Db, userId: string, exceptSession?: string): Promise<void> {
  const user = await tx
    .updateTable('users')
    .set((eb) => ({ token_epoch: eb('token_epoch', '+', 1) }))
    .where('id', '=', userId)
    .returning('token_epoch')
    .executeTakeFirst();
  if (user === undefined || exceptSession === undefined) return;
  await tx
    .updateTable('sessions')
    .set({ token_epoch: user.token_epoch })
    .where('id', '=', exceptSession)
    .where('user_id', '=', userId)
    .where('token_epoch', '=', user.token_epoch - 1)
    .execute();
}

export async function removeExpiredSessions(db: Db, before: string): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', before).execute();
  // Each refresh of a long session leaves a used token behind.
  await db.deleteFrom('refresh_tokens').where('expires_at', '<', before).execute();
}
