import { ApiError } from '../../../http/errors.ts';
import { newId } from '../../../runtime/ids.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { type AuditEntry, appendAudit } from '../../../stores/config/audit-logs.ts';
import {
  type AttemptState,
  addressHash,
  countAttempt,
  forgetOldAttempts,
  noteFailure,
  noteSuccess,
} from '../../../stores/config/login-attempts.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { findSessionUser, removeExpiredSessions, rotateRefreshToken, startSession } from '../../../stores/config/sessions.ts';
import { findLogin, noteLogin } from '../../../stores/config/users.ts';
import type { Actor, AdminDeps } from '../deps.ts';
import { passwordMatches } from './passwords.ts';
import { expiresInS, issueAccessToken, newRefreshToken, refreshTokenHash } from './tokens.ts';

export interface TokenPair {
  access_token: string;
  refresh_token: string;
  token_type: 'Bearer';
  expires_in: number;
}
type Client = Pick<Actor, 'ip' | 'user_agent'>;

export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Login and refresh. All that decides is in the database, so that it holds on every process. */
export function createAccounts(deps: Pick<AdminDeps, 'db' | 'clock' | 'secretKey' | 'settings'>) {
  const { db, clock, settings } = deps;
  const key = deriveKey(deps.secretKey, 'access-token');
  const iso = (ms: number) => new Date(ms).toISOString();
  let cleanedAt = 0;

  async function login(credentials: { email: string; password: string }, client: Client): Promise<TokenPair> {
    const email = normaliseEmail(credentials.email);
    const address = addressHash(email);
    const now = clock.now();
    await cleanUp(now);
    refuseTooMany(await countAttempt(db, address, now), now);
    const found = await findLogin(db, email);
    const right = await passwordMatches(found?.password_hash, credentials.password);
    const active = found?.status === 'active' ? found : undefined;
    if (!right || active === undefined) {
      await fail(address, found, client);
      throw new ApiError('INVALID_CREDENTIALS');
    }
    return await succeed(address, active, client);
  }

  /** The minute's limit first, then the lock. */
  function refuseTooMany(state: AttemptState, now: number): void {
    if (state.attempts > settings.loginRateLimit) throw new ApiError('RATE_LIMITED', { retryAfterS: (state.window_ends_ms - now) / 1000 });
    if (state.locked_until_ms > now) throw locked(state.locked_until_ms, now);
  }

  async function fail(address: string, user: { id: string; org_id: string; email: string } | undefined, client: Client): Promise<void> {
    await db.transaction().execute(async (tx) => {
      const now = clock.now();
      const nowLocked = await noteFailure(tx, address, now);
      const entry = loginEntry('auth.login_failed', user ?? { id: null, org_id: NOBODY, email: null }, client);
      // An address nobody has costs the same writes, so that time does not tell it from one that somebody has.
      if (user === undefined) await imitateAudit(tx);
      else await appendAudit(tx, { ...entry, changes: nowLocked ? { locked: { old: false, new: true } } : {} }, now);
    });
  }

  /** For a user who is logged in: guesses count as failed logins, or a stolen token could try passwords for ever. */
  async function checkPassword(user: Actor, password: string): Promise<void> {
    const address = addressHash(user.email);
    const now = clock.now();
    refuseTooMany(await countAttempt(db, address, now), now);
    const found = await findLogin(db, user.email);
    if (await passwordMatches(found?.password_hash, password)) {
      if (await noteSuccess(db, address, clock.now())) return;
    } else await fail(address, found, user);
    throw new ApiError('INVALID_CREDENTIALS', { message: 'The current password is wrong.' });
  }

  async function succeed(address: string, user: { id: string; org_id: string; email: string }, client: Client): Promise<TokenPair> {
    const sessionId = newId('ses');
    const refresh = newRefreshToken();
    const sessionUser = await db.transaction().execute(async (tx) => {
      const now = clock.now();
      if (!(await noteSuccess(tx, address, now))) return undefined;
      const started = await startSession(tx, {
        id: sessionId,
        user_id: user.id,
        refresh_hash: refreshTokenHash(refresh),
        expires_at: iso(now + settings.refreshTokenTtlMs),
        now: iso(now),
      });
      if (!started) return undefined;
      await noteLogin(tx, user.org_id, user.id, iso(now));
      await appendAudit(tx, loginEntry('auth.login', user, client), now);
      return await findSessionUser(tx, sessionId, user.id);
    });
    if (sessionUser === undefined) {
      const now = clock.now();
      refuseTooMany({ ...(await countAttempt(db, address, now)), attempts: 0 }, now);
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
    if (now - cleanedAt < 3_600_000) return;
    cleanedAt = now;
    await forgetOldAttempts(db, now);
    await removeExpiredSessions(db, iso(now));
  }

  return { login, refresh, checkPassword };
}
export type Accounts = ReturnType<typeof createAccounts>;

/** The chain of nobody's organisation: only written to keep time. */
const NOBODY = '';

function locked(until: number, now: number): ApiError {
  return new ApiError('ACCOUNT_LOCKED', { retryAfterS: (until - now) / 1000 });
}

async function imitateAudit(tx: Db): Promise<void> {
  await tx
    .insertInto('audit_heads')
    .values({ org_id: NOBODY, seq: 1, hash: '' })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet((eb) => ({ seq: eb('audit_heads.seq', '+', 1) })))
    .execute();
  await tx.updateTable('audit_heads').set({ hash: '' }).where('org_id', '=', NOBODY).execute();
  await tx.selectFrom('audit_logs').select('id').where('org_id', '=', NOBODY).limit(1).execute();
}

function loginEntry(
  action: 'auth.login' | 'auth.login_failed',
  user: { id: string | null; org_id: string; email: string | null },
  client: Client,
): AuditEntry {
  return {
    org_id: user.org_id,
    user_id: user.id,
    user_email: user.email,
    action,
    resource_type: 'auth',
    resource_id: user.id,
    changes: {},
    ip_address: client.ip,
    user_agent: client.user_agent,
  };
}
