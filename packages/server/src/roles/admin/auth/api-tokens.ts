import { createHash, randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { findTokenRoles, findTokenUser, type TokenUser, touchApiToken } from '../../../stores/config/api-tokens.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { roleReaches } from '../deps.ts';

export const API_TOKEN_PREFIX = 'fht_';
/** `last_used_at` is at most this late: a busy token must not cost a write per request. */
const TOUCH_EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export function newApiToken(): { token: string; token_hash: string; token_prefix: string } {
  const token = `${API_TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
  return { token, token_hash: apiTokenHash(token), token_prefix: token.slice(0, 8) };
}

/** 256 random bits need no slow hash. */
function apiTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Those of the given tokens that exist and allow no more than their creators. Expiry is not checked. */
export async function liveApiTokens(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const found = await findTokenRoles(db, ids);
  return new Set(found.filter(({ role, token_role }) => roleReaches(role, token_role)).map(({ id }) => id));
}

export function createApiTokenReader(deps: { db: Db; clock: Clock; logger: Pick<FastifyBaseLogger, 'warn'> }) {
  const { db, clock, logger } = deps;
  const touched = new Map<string, number>();

  function touch(found: TokenUser, now: number): void {
    const last = Math.max(touched.get(found.token_id) ?? 0, found.last_used_at === null ? 0 : Date.parse(found.last_used_at));
    if (now - last < TOUCH_EVERY_MS) return;
    if (touched.size >= MAX_REMEMBERED) touched.clear();
    touched.set(found.token_id, now);
    touchApiToken(db, found.token_id, new Date(now).toISOString()).catch((error: unknown) =>
      logger.warn({ err: error, token_id: found.token_id }, 'last use of an API token not recorded'),
    );
  }

  return async (token: string): Promise<TokenUser> => {
    const found = await findTokenUser(db, apiTokenHash(token));
    // A token never has more rights than its creator, who may have been demoted since.
    if (found === undefined || !roleReaches(found.role, found.token_role))
      throw new ApiError('INVALID_TOKEN', { message: 'This API token is unknown or has been revoked.' });
    const now = clock.now();
    if (found.expires_at !== null && Date.parse(found.expires_at) <= now)
      throw new ApiError('EXPIRED_TOKEN', { message: 'This API token has expired.' });
    touch(found, now);
    return found;
  };
}
