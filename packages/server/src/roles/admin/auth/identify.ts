import { ApiError } from '../../../http/errors.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { findSessionUser } from '../../../stores/config/sessions.ts';
import type { Actor, AdminDeps } from '../deps.ts';
import { API_TOKEN_PREFIX, createApiTokenReader } from './api-tokens.ts';
import { bearerToken, createTokenReader } from './tokens.ts';

/** The owner of a bearer token, as currently stored in the database. */
export interface Identity extends Omit<Actor, 'ip' | 'user_agent'> {
  expires_at: number;
}
export type Identify = (authorization: string | undefined) => Promise<Identity>;

/** Reads an access token or an API token. Reads the database on every request, so removing, disabling or revoking takes effect at once. */
export function createIdentify(deps: Pick<AdminDeps, 'db' | 'clock' | 'logger' | 'secretKey'>): Identify {
  const readAccessToken = createTokenReader(deriveKey(deps.secretKey, 'access-token'));
  const readApiToken = createApiTokenReader(deps);

  async function bySession(token: string): Promise<Identity> {
    const claims = await readAccessToken(token, deps.clock.now());
    const user = await findSessionUser(deps.db, claims.session_id, claims.user_id);
    if (user === undefined) throw new ApiError('INVALID_TOKEN', { message: 'This access token has been revoked.' });
    const { session_id, expires_at } = claims;
    return { ...user, session_id, expires_at, api_token_id: undefined, pipeline_ids: undefined };
  }

  async function byApiToken(token: string): Promise<Identity> {
    const { id, org_id, email, token_id, token_role, pipeline_ids, expires_at } = await readApiToken(token);
    return {
      id,
      org_id,
      email,
      role: token_role,
      session_id: '',
      api_token_id: token_id,
      pipeline_ids: pipeline_ids ?? undefined,
      expires_at: expires_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(expires_at),
    };
  }

  return (authorization) => {
    const token = bearerToken(authorization);
    return token.startsWith(API_TOKEN_PREFIX) ? byApiToken(token) : bySession(token);
  };
}
