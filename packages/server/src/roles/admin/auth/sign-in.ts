import { ApiError } from '../../../http/errors.ts';
import { newId } from '../../../runtime/ids.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { deleteOldAttempts, recordFailure } from '../../../stores/config/login-attempts.ts';
import { findSessionUser, removeExpiredSessions, rotateRefreshToken, startSession } from '../../../stores/config/sessions.ts';
import { findLogin, noteLogin } from '../../../stores/config/users.ts';
import type { Actor, AdminDeps } from '../deps.ts';
import { normaliseEmail } from './email.ts';
import { passwordMatches } from './passwords.ts';
import { type AuditedUser, auditSignIn, type Client, imitateAudit } from './sign-in-audit.ts';
import { type Attempt, createSignInLimits } from './sign-in-limits.ts';
import { expiresInS, issueAccessToken, newRefreshToken, refreshTokenHash } from './tokens.ts';

export interface TokenPair {
  access_token: string;
  refresh_token: string;
  token_type: 'Bearer';
  expires_in: number;
}
const CLEAN_UP_EVERY_MS = 3_600_000;

/** Sign-in and refresh. Every decision is made in the database, so it holds across processes. */
export function createSignIn(deps: Pick<AdminDeps, 'db' | 'cipher' | 'clock' | 'secretKey' | 'settings'>) {
  const { db, cipher, clock, settings } = deps;
  const key = deriveKey(deps.secretKey, 'access-token');
  const limits = createSignInLimits(deps);
  const iso = (ms: number) => new Date(ms).toISOString();
  let cleanedAt = 0;

  async function login(credentials: { email: string; password: string }, client: Client): Promise<TokenPair> {
    const email = normaliseEmail(credentials.email);
    await cleanUp(clock.now());
    const attempt = await limits.admit(email, client.ip);
    const found = await findLogin(db, email);
    const matches = await passwordMatches(found?.password_hash, credentials.password, { ip: client.ip, known: attempt.known });
    if (!matches || found?.status !== 'active') {
      await fail(attempt, found, client);
      throw new ApiError('INVALID_CREDENTIALS');
    }
    return await succeed(attempt, found, client);
  }

  async function fail(attempt: Attempt, user: AuditedUser | undefined, client: Client): Promise<void> {
    await db.transaction().execute(async (tx) => {
      const now = clock.now();
      const nowLocked = await recordFailure(tx, attempt.key, now);
      if (user === undefined) await imitateAudit(tx);
      else await auditSignIn(tx, cipher, 'auth.login_failed', user, client, now, nowLocked ? { locked: { old: false, new: true } } : {});
    });
  }

  /** For a signed-in user. Wrong guesses count as failed sign-ins, otherwise a stolen token could try passwords without limit. */
  async function checkPassword(user: Actor, password: string): Promise<void> {
    const attempt = await limits.admit(user.email, user.ip);
    const found = await findLogin(db, user.email);
    if (await passwordMatches(found?.password_hash, password, { ip: user.ip, known: true })) {
      if (await limits.succeed(db, attempt, clock.now())) return;
    } else await fail(attempt, found, user);
    throw new ApiError('INVALID_CREDENTIALS', { message: 'The current password is wrong.' });
  }

  async function succeed(attempt: Attempt, user: AuditedUser, client: Client): Promise<TokenPair> {
    const sessionId = newId('ses');
    const refresh = newRefreshToken();
    const sessionUser = await db.transaction().execute(async (tx) => {
      const now = clock.now();
      if (!(await limits.succeed(tx, attempt, now))) return undefined;
      const started = await startSession(tx, {
        id: sessionId,
        user_id: user.id,
        refresh_hash: refreshTokenHash(refresh),
        expires_at: iso(now + settings.refreshTokenTtlMs),
        now: iso(now),
      });
      if (!started) return undefined;
      await noteLogin(tx, user.org_id, user.id, iso(now));
      await auditSignIn(tx, cipher, 'auth.login', user, client, now);
      return await findSessionUser(tx, sessionId, user.id);
    });
    if (sessionUser === undefined) {
      await limits.refuseIfLocked(attempt);
      throw new ApiError('INVALID_CREDENTIALS');
    }
    return await pair(sessionUser, sessionId, refresh);
  }

  async function refresh(token: string): Promise<TokenPair> {
    const next = newRefreshToken();
    const now = clock.now();
    const rotation = await db.transaction().execute((tx) =>
      rotateRefreshToken(tx, refreshTokenHash(token), {
        refresh_hash: refreshTokenHash(next),
        expires_at: iso(now + settings.refreshTokenTtlMs),
        now: iso(now),
      }),
    );
    if (rotation.kind !== 'rotated') throw new ApiError('INVALID_REFRESH_TOKEN');
    return await pair(rotation.user, rotation.session_id, next);
  }

  async function pair(user: Parameters<typeof issueAccessToken>[1], sessionId: string, refreshToken: string): Promise<TokenPair> {
    return {
      access_token: await issueAccessToken(key, user, sessionId, clock.now(), settings.accessTokenTtlMs),
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: expiresInS(settings.accessTokenTtlMs),
    };
  }

  async function cleanUp(now: number): Promise<void> {
    if (now - cleanedAt < CLEAN_UP_EVERY_MS) return;
    cleanedAt = now;
    await deleteOldAttempts(db, now);
    await removeExpiredSessions(db, iso(now));
  }

  return { login, refresh, checkPassword };
}
export type SignIn = ReturnType<typeof createSignIn>;
