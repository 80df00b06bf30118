import { ApiError } from '../../../http/errors.ts';
import { newId } from '../../../runtime/ids.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { deleteOldAttempts, recordFailure } from '../../../stores/config/login-attempts.ts';
import type { Db } from '../../../stores/config/schema.ts';
import {
  endSession,
  findRefreshSession,
  findSessionUser,
  removeExpiredSessions,
  revokeTokens,
  rotateRefreshToken,
  startSession,
} from '../../../stores/config/sessions.ts';
import { inTransaction } from '../../../stores/config/transaction.ts';
import { findLogin, type Login, noteLogin } from '../../../stores/config/users.ts';
import type { Actor, AdminDeps } from '../deps.ts';
import { normaliseEmail } from './email.ts';
import { passwordMatches } from './passwords.ts';
import { createSecondFactor, type SecondFactor } from './second-factor.ts';
import { type AuditedUser, auditSignIn, type Client, imitateAudit } from './sign-in-audit.ts';
import { type Attempt, createSignInLimits } from './sign-in-limits.ts';
import { expiresInS, issueAccessToken, newRefreshToken, type RefreshKind, refreshKindOf, refreshTokenHash } from './tokens.ts';

export interface TokenPair {
  access_token: string;
  refresh_token: string;
  token_type: 'Bearer';
  expires_in: number;
}
export interface Credentials extends SecondFactor {
  email: string;
  password: string;
}
const CLEAN_UP_EVERY_MS = 3_600_000;
/** Tabs of one browser share a cookie and may refresh at the same time: a replaced cookie stays valid this long. */
const CONSOLE_GRACE_MS = 10_000;

/** Sign-in and refresh. Every decision is made in the database, so it holds across processes. */
export function createSignIn(deps: Pick<AdminDeps, 'db' | 'cipher' | 'clock' | 'secretKey' | 'settings' | 'closing'>) {
  const { db, cipher, clock, settings } = deps;
  const key = deriveKey(deps.secretKey, 'access-token');
  const limits = createSignInLimits(deps);
  const passesSecondFactor = createSecondFactor(deps);
  const iso = (ms: number) => new Date(ms).toISOString();
  let cleanedAt = 0;

  async function login(credentials: Credentials, client: Client, kind: RefreshKind = 'api'): Promise<TokenPair> {
    const email = normaliseEmail(credentials.email);
    await cleanUp(clock.now());
    const attempt = await limits.admit(email, client.ip);
    const found = await findLogin(db, email);
    requireLocalLogin(found);
    const matches = await passwordMatches(found?.password_hash, credentials.password, { ip: client.ip, known: attempt.known });
    if (!matches || found?.status !== 'active') {
      await fail(attempt, found, client);
      throw new ApiError('INVALID_CREDENTIALS');
    }
    if (!(await passesSecondFactor(found, credentials))) {
      await fail(attempt, found, client);
      throw new ApiError('INVALID_CREDENTIALS', { message: 'The code is wrong, has expired or was used before.' });
    }
    return await open(found, client, kind, (tx, now) => limits.succeed(tx, attempt, now), attempt);
  }

  /** With LOCAL_LOGIN=false only a user whose password was just reset on the command line may use it, for an hour. */
  function requireLocalLogin(user: Login | undefined): void {
    if (settings.localLogin || (user?.local_login_until ?? '') > iso(clock.now())) return;
    throw new ApiError('FORBIDDEN', { message: 'Sign-in with a password is turned off: use the identity provider.' });
  }

  async function fail(attempt: Attempt, user: AuditedUser | undefined, client: Client): Promise<void> {
    await inTransaction(deps, async (tx) => {
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

  /** For a user authenticated by the identity provider. */
  function openSession(user: AuditedUser, client: Client, kind: RefreshKind): Promise<TokenPair> {
    return open(user, client, kind, async () => true);
  }

  async function open(
    user: AuditedUser,
    client: Client,
    kind: RefreshKind,
    mayOpen: (tx: Db, now: number) => Promise<boolean>,
    attempt?: Attempt,
  ): Promise<TokenPair> {
    const sessionId = newId('ses');
    const refresh = newRefreshToken(kind);
    const sessionUser = await inTransaction(deps, async (tx) => {
      const now = clock.now();
      if (!(await mayOpen(tx, now))) return undefined;
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
      if (attempt !== undefined) await limits.refuseIfLocked(attempt);
      throw new ApiError('INVALID_CREDENTIALS');
    }
    return await pair(sessionUser, sessionId, refresh);
  }

  /** A token of one kind is worthless at the route of the other: only console sessions have a grace period. */
  async function refresh(token: string, kind: RefreshKind = 'api'): Promise<TokenPair> {
    if (refreshKindOf(token) !== kind) throw new ApiError('INVALID_REFRESH_TOKEN');
    const next = newRefreshToken(kind);
    const now = clock.now();
    const rotation = await inTransaction(deps, (tx) =>
      rotateRefreshToken(
        tx,
        refreshTokenHash(token),
        { refresh_hash: refreshTokenHash(next), expires_at: iso(now + settings.refreshTokenTtlMs), now: iso(now) },
        kind === 'console' ? iso(now - CONSOLE_GRACE_MS) : undefined,
      ),
    );
    if (rotation.kind !== 'rotated') throw new ApiError('INVALID_REFRESH_TOKEN');
    return await pair(rotation.user, rotation.session_id, next);
  }

  /** Ends the session of a refresh token, or every session of its user. An unknown token has nothing to end. */
  async function signOut(token: string, everywhere: boolean, client: Client): Promise<void> {
    await inTransaction(deps, async (tx) => {
      const session = await findRefreshSession(tx, refreshTokenHash(token));
      const user = session && (await findSessionUser(tx, session.session_id, session.user_id));
      if (session === undefined || user === undefined) return;
      if (everywhere) await revokeTokens(tx, user.id);
      else await endSession(tx, session.session_id);
      await auditSignIn(tx, cipher, 'auth.logout', user, client, clock.now(), everywhere ? { everywhere: { old: false, new: true } } : {});
    });
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

  return { login, refresh, checkPassword, openSession, signOut };
}
