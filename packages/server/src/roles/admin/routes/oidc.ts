import { Closed } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { baseOrigin } from '../../../http/public-origin.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { seal, unseal } from '../../../secrets/seal.ts';
import { clientOf } from '../auth/authenticate.ts';
import { createOidcAccounts } from '../auth/oidc-account.ts';
import { createOidcProvider, type OidcRequest } from '../auth/oidc-provider.ts';
import { isSecure, setSessionCookie } from '../auth/session-cookie.ts';
import { createSignIn } from '../auth/sign-in.ts';
import type { AdminApp, AdminContext } from '../deps.ts';

const tags = ['Authentication'];
const PATH = '/v1/admin/auth/oidc';
const COOKIE = 'firsthand_oidc';
const REQUEST_TTL_S = 600;
const Redirect = Type.Null({ description: 'A redirect.' });

/** Sign-in through an OpenID Connect provider: authorization code with PKCE. Ends in a console session. */
export function oidcRoutes(app: AdminApp, context: AdminContext): void {
  const { settings, clock } = context;
  const { oidcIssuer, oidcClientId } = settings;
  const isConfigured = oidcIssuer !== undefined && oidcClientId !== undefined;
  const provider = isConfigured
    ? createOidcProvider({ issuer: oidcIssuer, clientId: oidcClientId, clientSecret: settings.oidcClientSecret }, context)
    : undefined;
  const accountOf = createOidcAccounts(context, { roleClaim: settings.oidcRoleClaim, roleMap: settings.oidcRoleMap });
  const signIn = createSignIn(context);
  const key = deriveKey(context.secretKey, 'oidc-request');
  const redirectUri = (request: FastifyRequest) => `${baseOrigin(settings, request)}${PATH}/callback`;

  app.get(
    '/auth/methods',
    {
      config: { role: 'public' },
      schema: {
        summary: 'How one can sign in',
        tags,
        response: { 200: Closed({ local: Type.Boolean(), oidc: Type.Boolean() }) },
      },
    },
    async () => ({ local: settings.localLogin, oidc: isConfigured }),
  );

  app.get(
    '/auth/oidc/start',
    {
      config: { role: 'public', forPeople: true, errors: ['NOT_FOUND', 'OIDC_FAILED', 'CONFLICT'] },
      schema: {
        summary: 'Sign in through the identity provider',
        description: 'For browsers: to a request that accepts `text/html`, an error is a page.',
        tags,
        response: { 302: Redirect },
      },
    },
    async (request, reply) => {
      const { url, request: pending } = await required().start(redirectUri(request));
      setRequestCookie(request, reply, sealRequest(pending), REQUEST_TTL_S);
      return reply.redirect(url.href);
    },
  );

  app.get(
    '/auth/oidc/callback',
    {
      config: { role: 'public', forPeople: true, errors: ['NOT_FOUND', 'OIDC_FAILED', 'CONFLICT'] },
      schema: {
        summary: 'Return from the identity provider',
        description: 'Starts a console session and redirects to the console. To a request that accepts `text/html`, an error is a page.',
        tags,
        response: { 302: Redirect },
      },
    },
    async (request, reply) => {
      const { finish } = required();
      const current = new URL(`${redirectUri(request)}${request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''}`);
      const pending = openRequest(cookieOf(request));
      // Single use: the cookie is deleted even if the sign-in fails.
      setRequestCookie(request, reply, '', 0);
      if (pending === undefined)
        throw new ApiError('OIDC_FAILED', { message: 'This sign-in was not started here, or took too long. Start again.' });
      const claims = await finish(current, pending);
      const client = clientOf(request);
      const pair = await signIn.openSession(await accountOf(claims, client), client, 'console');
      setSessionCookie(reply, pair.refresh_token, settings.refreshTokenTtlMs, isSecure(request, settings.baseUrl));
      return reply.redirect('/');
    },
  );

  function required() {
    if (provider === undefined) throw new ApiError('NOT_FOUND', { message: 'OIDC is not configured on this installation.' });
    return provider;
  }
  function sealRequest(pending: OidcRequest): string {
    return seal(key, 'oidc', Buffer.from(JSON.stringify({ ...pending, expires: clock.now() + REQUEST_TTL_S * 1000 })));
  }
  function openRequest(sealed: string | undefined): OidcRequest | undefined {
    const plain = sealed === undefined ? undefined : unseal(key, 'oidc', sealed);
    if (plain === undefined) return undefined;
    // Sealed by us, so it has the shape that we gave it.
    const { expires, ...pending } = JSON.parse(plain.toString()) as OidcRequest & { expires: number };
    return expires > clock.now() ? pending : undefined;
  }
  /** Lax, not Strict: the browser must send it when the provider redirects back to us. */
  function setRequestCookie(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeS: number): void {
    const secure = isSecure(request, settings.baseUrl) ? '; Secure' : '';
    void reply.header('set-cookie', `${COOKIE}=${value}; Path=${PATH}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`);
  }
}

function cookieOf({ headers }: FastifyRequest): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]+)`).exec(headers.cookie ?? '')?.[1];
}
