import { CHAIN_START } from '@firsthand/core/vendor/chain.ts';
import { authorizeUrl, codeRequest, connectPlan } from '@firsthand/core/vendor/connect.ts';
import { expect, test } from 'vitest';
import hubspot from '../hubspot/vendor.ts';
import { connectTo, type OAuthProvider } from './oauth.ts';
import { compileCase, NOW } from './run-case.ts';
import { identified } from './sample-events.ts';

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
  ['hubspot', 'https://app.hubspot.com/oauth/authorize', 'https://api.hubapi.com/oauth/2026-03/token', false],
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

test('salesforce: the assertion of the JWT bearer flow names the consumer key, the user and the login host', async () => {
  const { default: salesforce } = await import('../salesforce/vendor.ts');
  const vendor = compileCase(salesforce);
  const built = vendor.build(identified(), { now: NOW });
  const [item] = built.kind === 'items' ? built.items : [];
  expect(item && vendor.chain?.next(item, CHAIN_START)?.token).toMatchObject({
    kind: 'oauth2_jwt_bearer',
    token_url: 'https://acme.my.salesforce.com/services/oauth2/token',
    jwt: {
      algorithm: 'RS256',
      claims: { iss: expect.stringMatching(/^3MVG9/), sub: 'integration@acme.example', aud: 'https://login.salesforce.com' },
      lifetime_s: 180,
    },
  });
});

test.each([
  ['eu', 'https://accounts.zoho.eu/oauth/v2/token'],
  ['com.au', 'https://accounts.zoho.com.au/oauth/v2/token'],
  ['ca', 'https://accounts.zohocloud.ca/oauth/v2/token'],
])('zoho_crm: the token of the data centre %s comes from its own accounts server', async (data_center, token_url) => {
  const { default: zohoCrm } = await import('../zoho_crm/vendor.ts');
  const vendor = compileCase(zohoCrm, undefined, { data_center });
  const built = vendor.build(identified(), { now: NOW });
  expect(built.kind === 'items' && vendor.token?.(built.items)).toMatchObject({ kind: 'oauth2_refresh_token', token_url });
});

test('zendesk: the token request is JSON to the account itself', async () => {
  const { default: zendesk } = await import('../zendesk/vendor.ts');
  const vendor = compileCase(zendesk, undefined, { authentication: 'oauth' });
  const built = vendor.build(identified(), { now: NOW });
  expect(built.kind === 'items' && vendor.token?.(built.items)).toMatchObject({
    kind: 'oauth2_client_credentials',
    token_url: 'https://acme.zendesk.com/oauth/tokens',
    scope: 'read write',
    style: 'json',
  });
});

test('microsoft: offline conversions connect with the scopes of Microsoft Advertising', async () => {
  const { default: microsoft } = await import('../microsoft_offline_conversions/vendor.ts');
  expect(microsoft.connect).toMatchObject({
    provider: 'Microsoft',
    scopes: ['https://ads.microsoft.com/msads.manage', 'offline_access'],
    refresh_token_field: 'refresh_token',
  });
});
