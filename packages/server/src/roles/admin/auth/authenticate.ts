import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { findSessionUser } from '../../../stores/config/sessions.ts';
import { type Actor, type AdminDeps, roleReaches } from '../deps.ts';
import { createRateLimit } from './rate-limit.ts';
import { createTokenReader } from './tokens.ts';

const MAX_USER_AGENT = 512;

export function clientOf(request: FastifyRequest): Pick<Actor, 'ip' | 'user_agent'> {
  return { ip: request.ip, user_agent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null };
}

/**
 * Token, then the user's present state (removed, disabled or revoked is out at once; the role is the database's, not the token's),
 * then the request rate, then the role the route asks for.
 */
export function createAuthenticate(deps: Pick<AdminDeps, 'db' | 'clock' | 'secretKey' | 'settings'>) {
  const readToken = createTokenReader(deriveKey(deps.secretKey, 'access-token'));
  const limit = createRateLimit(deps.settings.adminRateLimit, deps.clock);
  return async (request: FastifyRequest): Promise<void> => {
    const { role } = request.routeOptions.config;
    if (role === undefined || role === 'public') return;
    const claims = await readToken(request.headers.authorization, deps.clock.now());
    const user = await findSessionUser(deps.db, claims.session_id, claims.user_id);
    if (user === undefined) throw new ApiError('INVALID_TOKEN', { message: 'This access token has been revoked.' });
    const wait_s = limit(user.id);
    if (wait_s > 0) throw new ApiError('RATE_LIMITED', { retryAfterS: wait_s });
    if (!roleReaches(user.role, role)) throw new ApiError('FORBIDDEN', { message: `This needs the role ${role}; yours is ${user.role}.` });
    request.user = { ...user, session_id: claims.session_id, ...clientOf(request) };
  };
}
