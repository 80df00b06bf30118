import { authorizeUrl, codeRequest, connectPlan } from '@firsthand/core/vendor/connect.ts';
import { expect, test } from 'vitest';
import hubspot from '../hubspot/vendor.ts';
import { connectTo, type OAuthProvider } from './oauth.ts';

const rules = { mode: 'production', allow_private: false } as const;
const config = { client_id: 'c', client_secret: 's' };

test.each([
  ['google', 'https://accounts.google.com/o/oauth2/v2/auth', 'https://oauth2.googleapis.com/token', true],
  ['linkedin', 'https://www.linkedin.com/oauth/v2/authorization', 'https://www.linkedin.com/oauth/v2/accessToken', false],
  [
    'microsoft',
    'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    true,
  ],
  ['hubspot', 'https://app.hubspot.com/oauth/authorize', 'https://api.hubapi.com/oauth/v1/token', false],
] satisfies [OAuthProvider, string, string, boolean][])('%s: authorize URL, token URL, PKCE', (provider, authorize, token, pkce) => {
  const planned = connectPlan(connectTo(provider, ['a', 'b']), hubspot, config, rules);
  if (!planned.ok) throw new Error(JSON.stringify(planned.faults));
  const url = new URL(authorizeUrl(planned.plan, { redirect_uri: 'https://x.example/v1/oauth/callback', state: 'st', challenge: 'ch' }));
  expect(`${url.origin}${url.pathname}`).toBe(authorize);
  expect([url.searchParams.get('scope'), url.searchParams.get('state'), url.searchParams.get('code_challenge')]).toEqual([
    'a b',
    'st',
    pkce ? 'ch' : null,
  ]);
  const request = codeRequest(planned.plan, { code: 'co&de', redirect_uri: 'https://x.example/v1/oauth/callback', verifier: 'v' });
  expect(request.url).toBe(token);
  expect(new URLSearchParams(String(request.body)).get('code')).toBe('co&de');
  expect(new URLSearchParams(String(request.body)).get('code_verifier')).toBe(pkce ? 'v' : null);
});

test('salesforce: both addresses are those of My Domain', async () => {
  const { default: salesforce } = await import('../salesforce/vendor.ts');
  const planned = connectPlan(
    connectTo('salesforce', ['api']),
    salesforce,
    { ...config, login_url: 'https://acme.my.salesforce.com' },
    rules,
  );
  expect(planned).toMatchObject({
    ok: true,
    plan: {
      authorize_url: 'https://acme.my.salesforce.com/services/oauth2/authorize',
      token_url: 'https://acme.my.salesforce.com/services/oauth2/token',
      pkce: true,
    },
  });
  const missing = connectPlan(connectTo('salesforce', ['api']), salesforce, config, rules);
  expect(missing).toEqual({ ok: false, faults: [{ field: 'login_url', message: 'is required' }] });
});
