import { createHash, randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { ApiError } from '../../../http/errors.ts';
import type { SessionUser } from '../../../stores/config/sessions.ts';

const ALGORITHM = 'HS256';

/**
 * The claims follow the specification. The session id is in the signed header, and so is the end in milliseconds: `iat` and `exp` are
 * whole seconds, rounded down, so a token that ended by them would live up to a second less than `expires_in`.
 */
export async function issueAccessToken(
  key: Uint8Array,
  user: SessionUser,
  sessionId: string,
  nowMs: number,
  ttlMs: number,
): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return await new SignJWT({ org_id: user.org_id, role: user.role })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', sid: sessionId, exp_ms: nowMs + expiresInS(ttlMs) * 1000 })
    .setSubject(user.id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresInS(ttlMs))
    .sign(key);
}

export function expiresInS(ttlMs: number): number {
  return Math.max(1, Math.floor(ttlMs / 1000));
}

export function bearerToken(authorization: string | undefined): string {
  const token = /^Bearer ([^\s]+)\s*$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new ApiError('INVALID_TOKEN');
  if (token.startsWith('pk_')) throw new ApiError('INVALID_PIPELINE_KEY');
  return token;
}

export interface TokenClaims {
  user_id: string;
  session_id: string;
  expires_at: number;
}
const MAX_CACHED = 10_000;

/**
 * Reads the claims of a token. Whether the user and session still exist is for the database to say. A signature that was valid stays
 * valid, so verified tokens are cached: verification waits for a worker thread, which takes long on a busy machine.
 */
export function createTokenReader(key: Uint8Array): (token: string, nowMs: number) => Promise<TokenClaims> {
  const cached = new Map<string, TokenClaims>();
  return async (token, nowMs) => {
    if (!isCanonical(token)) throw new ApiError('INVALID_TOKEN');
    const known = cached.get(token);
    if (known !== undefined && known.expires_at > nowMs) return known;
    cached.delete(token);
    const claims = await verified(key, token, nowMs);
    const [oldest] = cached.keys();
    if (oldest !== undefined && cached.size >= MAX_CACHED) cached.delete(oldest);
    cached.set(token, claims);
    return claims;
  };
}

/**
 * A base64url text can have spare bits at its end, so several texts decode to the same bytes. Only the one that an encoder writes is
 * accepted: a token has one spelling wherever it is compared, logged or revoked.
 */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function verified(key: Uint8Array, token: string, nowMs: number): Promise<TokenClaims> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      currentDate: new Date(nowMs),
      clockTolerance: 1,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const { sub, exp } = payload;
    if (typeof sub !== 'string' || exp === undefined || typeof protectedHeader.sid !== 'string') throw new ApiError('INVALID_TOKEN');
    const { sid, exp_ms } = protectedHeader;
    // A token of an earlier version has no exact end.
    const expiresAt = typeof exp_ms === 'number' ? exp_ms : exp * 1000;
    if (expiresAt <= nowMs) throw new ApiError('EXPIRED_TOKEN');
    return { user_id: sub, session_id: sid, expires_at: expiresAt };
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    if (cause instanceof errors.JWTExpired) throw new ApiError('EXPIRED_TOKEN', { cause });
    throw new ApiError('INVALID_TOKEN', { cause });
  }
}

/** `console` tokens live in a cookie, `api` tokens in a client's own store. */
export type RefreshKind = 'api' | 'console';
const REFRESH_PREFIX = { api: 'rt_', console: 'rc_' } as const satisfies Record<RefreshKind, string>;

export function newRefreshToken(kind: RefreshKind): string {
  return `${REFRESH_PREFIX[kind]}${randomBytes(32).toString('base64url')}`;
}
export function refreshKindOf(token: string): RefreshKind {
  return token.startsWith(REFRESH_PREFIX.console) ? 'console' : 'api';
}
export function refreshTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
