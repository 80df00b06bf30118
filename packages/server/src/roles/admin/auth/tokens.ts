import { createHash, randomBytes } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { ApiError } from '../../../http/errors.ts';
import type { SessionUser } from '../../../stores/config/sessions.ts';

const ALGORITHM = 'HS256';

/** The claims are those of the specification; the session stands in the signed header, beside the algorithm. */
export async function issueAccessToken(
  key: Uint8Array,
  user: SessionUser,
  sessionId: string,
  nowMs: number,
  ttlMs: number,
): Promise<string> {
  const issuedAt = Math.floor(nowMs / 1000);
  return await new SignJWT({ org_id: user.org_id, role: user.role })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', sid: sessionId })
    .setSubject(user.id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + expiresInS(ttlMs))
    .sign(key);
}

export function expiresInS(ttlMs: number): number {
  return Math.max(1, Math.floor(ttlMs / 1000));
}

export interface TokenClaims {
  user_id: string;
  session_id: string;
  expires_at: number;
}
const MOST_REMEMBERED = 10_000;

/**
 * Who a token says it is. Whether that user and session still stand, the database must say. A signature stays what it is, so a token is
 * checked once and then remembered: checking waits for a thread, which a busy machine makes long.
 */
export function createTokenReader(key: Uint8Array): (authorization: string | undefined, nowMs: number) => Promise<TokenClaims> {
  const remembered = new Map<string, TokenClaims>();
  return async (authorization, nowMs) => {
    const token = /^Bearer ([^\s]+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new ApiError('INVALID_TOKEN');
    if (token.startsWith('pk_')) throw new ApiError('INVALID_PIPELINE_KEY');
    const known = remembered.get(token);
    if (known !== undefined && known.expires_at > nowMs) return known;
    remembered.delete(token);
    const claims = await verified(key, token, nowMs);
    if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value!);
    remembered.set(token, claims);
    return claims;
  };
}

async function verified(key: Uint8Array, token: string, nowMs: number): Promise<TokenClaims> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      currentDate: new Date(nowMs),
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    if (typeof payload.sub !== 'string' || typeof protectedHeader.sid !== 'string') throw new ApiError('INVALID_TOKEN');
    return { user_id: payload.sub, session_id: protectedHeader.sid, expires_at: payload.exp! * 1000 };
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) throw new ApiError('EXPIRED_TOKEN', { cause });
    throw new ApiError('INVALID_TOKEN', { cause });
  }
}

export function newRefreshToken(): string {
  return `rt_${randomBytes(32).toString('base64url')}`;
}
export function refreshTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
