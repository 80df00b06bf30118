/** The identity provider, through openid-client. The package is loaded only where OIDC is configured. */
import type { FastifyBaseLogger } from 'fastify';
import type { Configuration } from 'openid-client';
import { ApiError } from '../../../http/errors.ts';
import type { Clock } from '../../../runtime/clock.ts';

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
}
/** State kept between the redirect and the return. */
export interface OidcRequest {
  state: string;
  nonce: string;
  verifier: string;
}
export type OidcClaims = Record<string, unknown> & { sub: string; iss: string };

const TIMEOUT_S = 5;
/** Endpoints and keys change rarely; openid-client fetches new signing keys by itself. */
const REDISCOVER_MS = 3_600_000;

export function createOidcProvider(settings: OidcSettings, deps: { clock: Clock; logger: Pick<FastifyBaseLogger, 'warn'> }) {
  let known: { configuration: Configuration; at: number } | undefined;

  async function configuration(): Promise<Configuration> {
    const now = deps.clock.monotonic();
    if (known !== undefined && now - known.at < REDISCOVER_MS) return known.configuration;
    const oidc = await import('openid-client');
    const insecure = settings.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
    const configuration = await oidc.discovery(new URL(settings.issuer), settings.clientId, settings.clientSecret, undefined, {
      timeout: TIMEOUT_S,
      // By default openid-client does not verify the signature of a token from the token endpoint.
      execute: [...insecure, oidc.enableNonRepudiationChecks],
    });
    known = { configuration, at: now };
    return configuration;
  }

  /** The URL to redirect the browser to, and the state to keep until it returns. */
  async function start(redirectUri: string): Promise<{ url: URL; request: OidcRequest }> {
    const oidc = await import('openid-client');
    const found = await configuration().catch((cause: unknown) => fail('discovery', cause));
    const request = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
    const url = oidc.buildAuthorizationUrl(found, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      code_challenge: await oidc.calculatePKCECodeChallenge(request.verifier),
      code_challenge_method: 'S256',
      state: request.state,
      nonce: request.nonce,
    });
    return { url, request };
  }

  /** The verified claims of the user who returned to `currentUrl`. */
  async function finish(currentUrl: URL, { state, nonce, verifier }: OidcRequest): Promise<OidcClaims> {
    const oidc = await import('openid-client');
    const found = await configuration().catch((cause: unknown) => fail('discovery', cause));
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    const tokens = await oidc.authorizationCodeGrant(found, currentUrl, checks).catch((cause: unknown) => fail('code exchange', cause));
    const claims = tokens.claims();
    if (claims === undefined) return fail('code exchange', new Error('no ID token'));
    return claims;
  }

  /** The cause is for the operator's log; the message tells the user who must act. */
  function fail(step: 'discovery' | 'code exchange', cause: unknown): never {
    deps.logger.warn({ err: cause, step, issuer: settings.issuer }, 'OIDC sign-in failed');
    if (isUnreachable(cause))
      throw new ApiError('UNAVAILABLE', { message: 'The identity provider cannot be reached. Try again soon.', retryAfterS: 5, cause });
    if ((cause as { error?: unknown }).error === 'access_denied')
      throw new ApiError('OIDC_FAILED', { message: 'The identity provider denied access.', cause });
    throw new ApiError('OIDC_FAILED', { cause });
  }

  return { start, finish };
}

const UNREACHABLE_CODES = new Set([
  'OAUTH_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);
/** Refused connections, timeouts and 5xx, anywhere in the chain of causes. */
function isUnreachable(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code, name } = at as Error & { code?: unknown };
    if (name === 'TimeoutError' || (typeof code === 'string' && UNREACHABLE_CODES.has(code))) return true;
    if (at.cause instanceof Response && at.cause.status >= 500) return true;
    if (at instanceof AggregateError && at.errors.some(isUnreachable)) return true;
  }
  return false;
}
