import { Closed, named, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { providerError } from '@firsthand/core/vendor/connect.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { baseOrigin } from '../../../http/public-origin.ts';
import { IdParams } from '../../../http/schema.ts';
import { findIntegrationById } from '../../../stores/config/integrations.ts';
import { clientOf } from '../auth/authenticate.ts';
import { isSecure } from '../auth/session-cookie.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { CONNECT_TTL_S, createOauthConnect, failed, type Started } from '../oauth-connect.ts';

const CALLBACK_PATH = '/v1/oauth/callback';
const COOKIE = 'firsthand_connect';

const Connection = named(
  'ConnectStart',
  Closed({
    authorize_url: Type.String({ description: 'Open it in the browser that made this request.' }),
    redirect_uri: Type.String({ description: 'Must be registered with the OAuth client at the vendor, exactly like this.' }),
    expires_at: Timestamp,
  }),
);
const description =
  "Answers the address of the vendor's authorization page, for the OAuth client in the config. After the person has agreed there, the vendor redirects to `/v1/oauth/callback`, which stores the refresh token in a new revision. The answer sets a cookie: the same browser must come back, within ten minutes. 422 where the vendor has no connect flow, or the client id or secret is missing.";

export function connectRoutes(app: AdminApp, context: AdminContext): void {
  const { db, settings } = context;
  const connect = createOauthConnect(context);
  const redirectUri = (request: FastifyRequest) => `${baseOrigin(settings, request)}${CALLBACK_PATH}`;

  app.post(
    '/integration-templates/:id/connect',
    {
      config: { role: 'editor', peopleOnly: true, unaudited: true, errors: ['VALIDATION_ERROR', 'CONFLICT'] },
      schema: {
        summary: 'Connect a template to a vendor account',
        description: `${description} Starts from the latest revision, which may still be incomplete.`,
        tags: ['Integration templates'],
        params: IdParams,
        response: { 200: Connection },
      },
    },
    async (request, reply) => {
      const target = { template_id: request.params.id, integration_id: null };
      return answer(request, reply, await connect.start(request.user, target, redirectUri(request)));
    },
  );

  app.post(
    '/integrations/:id/connect',
    {
      config: { role: 'editor', peopleOnly: true, unaudited: true, errors: ['VALIDATION_ERROR', 'CONFLICT'] },
      schema: {
        summary: 'Connect an integration to a vendor account',
        description: `${description} Starts from the pinned revision and pins the new one.`,
        tags: ['Pipeline integrations'],
        params: IdParams,
        response: { 200: Connection },
      },
    },
    async (request, reply) => {
      const { user, params } = request;
      const integration = await findIntegrationById(db, user.org_id, params.id);
      if (integration === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration.' });
      const target = { template_id: integration.template_id, integration_id: integration.id };
      return answer(request, reply, await connect.start(user, target, redirectUri(request)));
    },
  );

  function answer(request: FastifyRequest, reply: FastifyReply, { browser, ...started }: Started) {
    setCookie(context, request, reply, browser, CONNECT_TTL_S);
    return started;
  }
}

const Query = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 8_192 })),
  state: Type.Optional(Type.String({ maxLength: 200 })),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

/** Outside the prefix of the management API: its address is registered with vendors and stays short. */
export function connectCallbackRoute(app: AdminApp, context: AdminContext): void {
  const connect = createOauthConnect(context);
  app.get(
    CALLBACK_PATH,
    {
      config: { role: 'public', forPeople: true, errors: ['CONNECT_FAILED', 'NOT_FOUND'] },
      schema: {
        summary: "Return from a vendor's authorization page",
        description:
          'For browsers. Exchanges the code, stores the refresh token in a new revision and redirects to the console. The state works once. To a request that accepts `text/html`, an error is a page.',
        tags: ['Integration templates'],
        querystring: Query,
        response: { 302: Type.Null({ description: 'A redirect to the console.' }) },
      },
    },
    async (request, reply) => {
      const { code, state = '', error, error_description } = request.query;
      const browser = cookieOf(request);
      // Single use: the cookie is deleted even if the connection fails.
      setCookie(context, request, reply, '', 0);
      const pending = await connect.take(state, browser);
      if (error !== undefined)
        throw failed(`The vendor refused the connection: ${providerError(error, error_description) ?? 'no reason given'}.`);
      if (code === undefined || code === '') throw failed('The vendor returned without a code. Start again.');
      return reply.redirect(await connect.finish(pending, code, clientOf(request)));
    },
  );
}

/** Lax, not Strict: the browser must send it when the vendor redirects back to us. */
function setCookie({ settings }: AdminContext, request: FastifyRequest, reply: FastifyReply, value: string, maxAgeS: number): void {
  const secure = isSecure(request, settings.baseUrl) ? '; Secure' : '';
  void reply.header('set-cookie', `${COOKIE}=${value}; Path=${CALLBACK_PATH}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`);
}
function cookieOf({ headers }: FastifyRequest): string {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]+)`).exec(headers.cookie ?? '')?.[1] ?? '';
}
