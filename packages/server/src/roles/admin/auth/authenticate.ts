import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import type { Limit } from '../../../rate-limits/limit-account.ts';
import { type Actor, type AdminDeps, roleReaches } from '../deps.ts';
import { createIdentify } from './identify.ts';

const MAX_USER_AGENT = 512;

export function clientOf(request: FastifyRequest): Pick<Actor, 'ip' | 'user_agent'> {
  return { ip: request.ip, user_agent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null };
}

/** Checks the token, then the request rate, then the role that the route requires. */
export function createAuthenticate(deps: Pick<AdminDeps, 'db' | 'clock' | 'logger' | 'secretKey' | 'settings' | 'rateLimits'>) {
  const identify = createIdentify(deps);
  const callers = deps.rateLimits.limiter('caller');
  const perMinute: Limit = { kind: 'window', most: deps.settings.adminRateLimit, window_ms: 60_000 };
  return async (request: FastifyRequest): Promise<void> => {
    const { role, peopleOnly } = request.routeOptions.config;
    if (role === undefined || role === 'public') return;
    const user = await identify(request.headers.authorization);
    const wait_ms = callers.take(user.api_token_id ?? user.id, perMinute);
    if (wait_ms > 0) throw new ApiError('RATE_LIMITED', { retryAfterS: Math.ceil(wait_ms / 1_000) });
    if (!roleReaches(user.role, role)) throw new ApiError('FORBIDDEN', { message: `This needs the role ${role}; yours is ${user.role}.` });
    // A stolen API token must not be able to create a token or a user that outlives it.
    if (peopleOnly === true && user.api_token_id !== undefined)
      throw new ApiError('FORBIDDEN', { message: 'API tokens cannot be used here: sign in.' });
    const { ip, user_agent } = clientOf(request);
    const isToken = user.api_token_id !== undefined;
    // The audit log shows the token's creator; this shows which of their tokens was used.
    request.user = { ...user, ip, user_agent: isToken ? `${user.api_token_id} ${user_agent ?? ''}`.trim() : user_agent };
  };
}
