import { OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { clientOf } from '../auth/authenticate.ts';
import { clearSessionCookie, isSecure, readSessionCookie, requireSameOrigin, setSessionCookie } from '../auth/session-cookie.ts';
import { createSignIn, type TokenPair } from '../auth/sign-in.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { Credentials } from './auth.ts';

const AccessToken = Type.Object({
  access_token: Type.String({ description: 'Keep it in memory.' }),
  token_type: OneOf(['Bearer']),
  expires_in: Type.Integer({ examples: [900] }),
});
const tags = ['Authentication'];

/** Sign-in for the console: the refresh token is in a cookie that scripts cannot read, the access token in the response. */
export function sessionRoutes(app: AdminApp, context: AdminContext): void {
  const signIn = createSignIn(context);
  const { settings } = context;

  function hand(request: FastifyRequest, reply: FastifyReply, { refresh_token, ...rest }: TokenPair) {
    setSessionCookie(reply, refresh_token, settings.refreshTokenTtlMs, isSecure(request, settings.baseUrl));
    return rest;
  }

  app.post(
    '/auth/session',
    {
      config: { role: 'public', errors: ['INVALID_CREDENTIALS', 'ACCOUNT_LOCKED', 'TOTP_REQUIRED', 'FORBIDDEN'] },
      schema: {
        summary: 'Sign in to the console',
        description: 'As `POST /auth/login`, with the refresh token in an `HttpOnly`, `SameSite=Strict` cookie.',
        tags,
        body: Credentials,
        response: { 200: AccessToken },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request);
      return hand(request, reply, await signIn.login(request.body, clientOf(request), 'console'));
    },
  );

  app.post(
    '/auth/session/refresh',
    {
      config: { role: 'public', errors: ['INVALID_REFRESH_TOKEN', 'FORBIDDEN'] },
      schema: {
        summary: 'Renew the console session',
        description:
          'Replaces the cookie. Several tabs may do so at once: a cookie that was replaced less than 10 seconds ago is still accepted. After that its use revokes every token of the user.',
        tags,
        response: { 200: AccessToken },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request);
      const token = readSessionCookie(request);
      if (token === undefined) throw new ApiError('INVALID_REFRESH_TOKEN', { message: 'There is no console session.' });
      return hand(request, reply, await signIn.refresh(token, 'console'));
    },
  );

  app.delete(
    '/auth/session',
    {
      config: { role: 'public', errors: ['FORBIDDEN'] },
      schema: {
        summary: 'Sign out of the console',
        description: 'Ends the session and removes the cookie. `everywhere=true` ends every session of the user, on every device.',
        tags,
        querystring: Type.Object({ everywhere: Type.Optional(OneOf(['true', 'false'])) }),
        response: { 204: Type.Null({ description: 'Signed out' }) },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request);
      const token = readSessionCookie(request);
      if (token !== undefined) await signIn.signOut(token, request.query.everywhere === 'true', clientOf(request));
      clearSessionCookie(reply, isSecure(request, settings.baseUrl));
      return reply.code(204).send(null);
    },
  );
}
