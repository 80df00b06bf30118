import { Body, named, OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { clientOf } from '../auth/authenticate.ts';
import { MAX_PASSWORD } from '../auth/passwords.ts';
import { createSignIn } from '../auth/sign-in.ts';
import type { AdminApp, AdminContext } from '../deps.ts';

const TokenPair = named(
  'TokenPair',
  Type.Object({
    access_token: Type.String({ description: 'A JWT with the claims sub, org_id, role, exp and iat.' }),
    refresh_token: Type.String({ description: 'Good for one refresh.' }),
    token_type: OneOf(['Bearer']),
    expires_in: Type.Integer({ description: 'Seconds until the access token ends.', examples: [900] }),
  }),
);
export const Credentials = Body(
  {
    email: Type.String({ minLength: 1, maxLength: 254, examples: ['owner@localhost'] }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD }),
    totp_code: Type.Optional(
      Type.String({ maxLength: 20, description: 'For users with two-step sign-in: the code of the authenticator app.' }),
    ),
    recovery_code: Type.Optional(Type.String({ maxLength: 100, description: 'Instead of `totp_code`; works once.' })),
  },
  [],
  { examples: [{ email: 'owner@localhost', password: 'correct horse battery staple' }] },
);
const tags = ['Authentication'];

export function authRoutes(app: AdminApp, context: AdminContext): void {
  const signIn = createSignIn(context);

  app.post(
    '/auth/login',
    {
      config: { role: 'public', errors: ['INVALID_CREDENTIALS', 'ACCOUNT_LOCKED', 'TOTP_REQUIRED', 'FORBIDDEN'] },
      schema: {
        summary: 'Log in',
        description:
          'Ten attempts a minute per e-mail address (`LOGIN_RATE_LIMIT`). For accounts that have not signed in from this network before: also 100 attempts a minute per client address and 300 per network (/24, /64), over all accounts. Five failures in a row lock the e-mail address for 15 minutes.',
        tags,
        body: Credentials,
        response: { 200: TokenPair },
      },
    },
    (request) => signIn.login(request.body, clientOf(request)),
  );

  app.post(
    '/auth/refresh',
    {
      config: { role: 'public', errors: ['INVALID_REFRESH_TOKEN'] },
      schema: {
        summary: 'Trade a refresh token for a new pair of tokens',
        description: 'The old refresh token ends with it; using it again revokes every token of the user.',
        tags,
        body: Body({ refresh_token: Type.String() }, [], { examples: [{ refresh_token: 'rt_…' }] }),
        response: { 200: TokenPair },
      },
    },
    ({ body }) => signIn.refresh(body.refresh_token),
  );
}
