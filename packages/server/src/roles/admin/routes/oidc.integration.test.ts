import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCipher } from '../../../secrets/cipher.ts';
import { allowLocalLogin } from '../../../stores/config/users.ts';
import { createOrganisation } from '../create-organisation.ts';
import {
  type Answer,
  type Harness,
  type HarnessOptions,
  PASSWORD,
  SECRET_KEY,
  startHarness,
  type TestOrganisation,
} from '../testing/harness.ts';
import { signInAtProvider } from '../testing/sign-in-at-provider.ts';

const BASE = 'http://console.test';
const CALLBACK = `${BASE}/v1/admin/auth/oidc/callback`;
const CLIENT = { oidcClientId: 'firsthand', oidcClientSecret: 'a secret that both sides know' };
interface Account {
  sub: string;
  email?: string;
  email_verified?: boolean;
  groups?: string[];
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
async function harnessFor(oidcIssuer: string, settings: HarnessOptions['settings'] = {}): Promise<Harness> {
  const harness = await startHarness({ settings: { baseUrl: BASE, oidcIssuer, ...CLIENT, ...settings } });
  onTestFinished(() => harness.close());
  return harness;
}
const cookiesOf = (answer: Answer) => [answer.headers['set-cookie']].flat().map(String);
const cookie = (answer: Answer, name: string) =>
  cookiesOf(answer)
    .find((text) => text.startsWith(`${name}=`) && !text.startsWith(`${name}=;`))
    ?.split(';')[0] ?? '';
const start = (harness: Harness) => harness.call('GET', 'auth/oidc/start');
const finish = (harness: Harness, url: string, sent: string) => harness.call('GET', url.slice(BASE.length), { headers: { cookie: sent } });

const accounts = new Map<string, Account>();
let issuer: string;
let server: Server;
beforeAll(async () => {
  server = createServer();
  issuer = await listen(server);
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.oidcClientId, client_secret: CLIENT.oidcClientSecret, redirect_uris: [CALLBACK] }],
    pkce: { required: () => true },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ ...accounts.get(id), sub: id }) }),
  });
  server.on('request', provider.callback());
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function signIn(harness: Harness, account: Account): Promise<Answer> {
  accounts.set(account.sub, account);
  const started = await start(harness);
  expect(started.status, JSON.stringify(started.body)).toBe(302);
  const returned = await signInAtProvider(String(started.headers.location), account.sub, CALLBACK);
  return await finish(harness, returned, cookie(started, 'firsthand_oidc'));
}
async function meAfter(harness: Harness, answer: Answer): Promise<Answer> {
  const refreshed = await harness.call('POST', 'auth/session/refresh', { headers: { cookie: cookie(answer, 'firsthand_session') } });
  expect(refreshed.status).toBe(200);
  return await harness.call('GET', 'users/me', { token: refreshed.body.access_token });
}

test('a new user signs in through the provider, gets a console session and a role from a group', async () => {
  const harness = await harnessFor(issuer, { oidcRoleClaim: 'groups', oidcRoleMap: new Map([['editors', 'editor']]) });
  const org = await harness.newOrganisation();
  const account = { sub: 'ada', email: 'Ada@Example.com', email_verified: true, groups: ['sales', 'editors'] };
  const answer = await signIn(harness, account);
  expect([answer.status, answer.headers.location]).toEqual([302, '/']);
  const me = await meAfter(harness, answer);
  expect(me.body).toMatchObject({ email: 'ada@example.com', role: 'editor', org_id: org.org_id });
  const again = await signIn(harness, { ...account, email: 'moved@example.com' });
  expect((await meAfter(harness, again)).body.id, 'known by subject, not by address').toBe(me.body.id);
  const password = await harness.call('POST', 'auth/login', { body: { email: 'ada@example.com', password: '!' } });
  expect(password.status, 'no password matches').toBe(401);
});

test('the provider changes the role at the next sign-in, but cannot demote the last owner', async () => {
  const roleMap = new Map([
    ['admins', 'admin'],
    ['staff', 'viewer'],
  ] as const);
  const harness = await harnessFor(issuer, { oidcRoleClaim: 'groups', oidcRoleMap: roleMap });
  const org = await harness.newOrganisation();
  const bob = { sub: 'bob', email: 'bob@example.com', email_verified: true };
  expect((await meAfter(harness, await signIn(harness, { ...bob, groups: ['admins'] }))).body.role).toBe('admin');
  expect((await meAfter(harness, await signIn(harness, { ...bob, groups: ['staff'] }))).body.role).toBe('viewer');
  const none = await signIn(harness, { ...bob, groups: [] });
  expect([none.status, none.body.error.code]).toEqual([401, 'OIDC_FAILED']);
  const owner = await signIn(harness, { sub: 'owner', email: org.owner.email, email_verified: true, groups: ['staff'] });
  expect([owner.status, owner.body.error.message]).toEqual([401, expect.stringContaining('last owner')]);
});

test('an existing user is linked by a verified address only', async () => {
  const harness = await harnessFor(issuer);
  const org = await harness.newOrganisation();
  const thief = await signIn(harness, { sub: 'thief', email: org.owner.email });
  expect([thief.status, thief.body.error.code]).toEqual([401, 'OIDC_FAILED']);
  const owner = await signIn(harness, { sub: 'the-owner', email: org.owner.email, email_verified: true });
  expect((await meAfter(harness, owner)).body).toMatchObject({ id: org.owner.id, role: 'owner' });
  const nameless = await signIn(harness, { sub: 'nameless' });
  expect([nameless.status, nameless.body.error.message]).toEqual([401, expect.stringContaining('e-mail address')]);
});

test('a disabled user stays out', async () => {
  const harness = await harnessFor(issuer);
  const org = await harness.newOrganisation();
  const carol = { sub: 'carol', email: 'carol@example.com', email_verified: true };
  const { body } = await meAfter(harness, await signIn(harness, carol));
  await harness.call('PUT', `users/${body.id}`, { token: org.owner.token, body: { status: 'disabled' } });
  expect((await signIn(harness, carol)).body.error).toMatchObject({ code: 'OIDC_FAILED', message: expect.stringContaining('disabled') });
});

test('a return that was not started here, is repeated or is altered is refused', async () => {
  const harness = await harnessFor(issuer);
  await harness.newOrganisation();
  accounts.set('dora', { sub: 'dora', email: 'dora@example.com', email_verified: true });
  const started = await start(harness);
  const pending = cookie(started, 'firsthand_oidc');
  expect(cookiesOf(started)[0]).toMatch(/HttpOnly; SameSite=Lax/);
  const returned = await signInAtProvider(String(started.headers.location), 'dora', CALLBACK);
  const other = cookie(await start(harness), 'firsthand_oidc');
  const altered = new URL(returned);
  altered.searchParams.set('state', 'another');
  for (const [url, sent] of [
    [returned, ''],
    [returned, 'firsthand_oidc=nonsense'],
    [returned, other],
    [altered.href, pending],
    [`${CALLBACK}?error=access_denied&state=x`, pending],
    [CALLBACK, pending],
  ] as const) {
    const answer = await finish(harness, url, sent);
    expect([answer.status, answer.body.error.code], url).toEqual([401, 'OIDC_FAILED']);
    expect(cookie(answer, 'firsthand_session')).toBe('');
  }
  expect((await finish(harness, returned, pending)).status).toBe(302);
  expect((await finish(harness, returned, pending)).status, 'the code is spent').toBe(401);
});

test('LOCAL_LOGIN=false closes passwords, except for an hour after a reset on the command line', async () => {
  const harness = await harnessFor(issuer, { localLogin: false });
  const { store, clock } = harness;
  const owner = { owner_email: 'owner@example.com', owner_password: PASSWORD };
  const { user_id } = await createOrganisation({ db: store.db, cipher: createCipher(SECRET_KEY), clock }, { name: 'Shop', ...owner });
  const login = async (path: string) =>
    (await harness.call('POST', path, { body: { email: owner.owner_email, password: PASSWORD } })).status;
  expect((await harness.call('GET', 'auth/methods')).body).toEqual({ local: false, oidc: true });
  for (const path of ['auth/login', 'auth/session']) expect(await login(path)).toBe(403);
  await allowLocalLogin(store.db, user_id, new Date(clock.now() + 3_600_000).toISOString());
  for (const path of ['auth/login', 'auth/session']) expect(await login(path)).toBe(200);
  clock.advance(3_601_000);
  for (const path of ['auth/login', 'auth/session']) expect(await login(path)).toBe(403);
});

test('without OIDC the routes respond that it is not configured', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  for (const path of ['auth/oidc/start', 'auth/oidc/callback', 'auth/oidc/callback?code=x&state=y']) {
    const answer = await harness.call('GET', path);
    expect([answer.status, answer.body.error.message], path).toEqual([404, 'OIDC is not configured on this installation.']);
  }
  expect((await harness.call('GET', 'auth/methods')).body).toEqual({ local: true, oidc: false });
});

test('a person whose sign-in fails sees a page, a program the error', async () => {
  const harness = await harnessFor(issuer);
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const page = await harness.call('GET', 'auth/oidc/callback?error=access_denied', { headers: { accept } });
  expect([page.status, page.headers['content-type'], page.headers.vary]).toEqual([401, 'text/html; charset=utf-8', 'Accept']);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.body).toContain('<p>This sign-in was not started here, or took too long. Start again.</p>');
  expect(page.body).toContain('href="/"');
  const plain = await harness.call('GET', 'auth/oidc/callback', { headers: { accept: '*/*' } });
  expect([plain.status, plain.body.error.code]).toEqual([401, 'OIDC_FAILED']);
});

test('a provider that is down is 503, never 500', async () => {
  const gone = createServer();
  const address = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  const harness = await harnessFor(address);
  const answer = await start(harness);
  expect([answer.status, answer.body.error.code]).toEqual([503, 'UNAVAILABLE']);
});

test.each([
  ['discovery answers 500', { discovery: 500 }, 503],
  ['discovery is no JSON', { discovery: 'text' }, 401],
  ['discovery names another issuer', { issuer: 'https://evil.example' }, 401],
] as const)('a provider whose %s gets a clear error', async (_name, lie, status) => {
  const { address } = await lyingProvider(lie);
  const answer = await start(await harnessFor(address));
  expect(answer.status).toBe(status);
});

test.each([
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['another audience', { claims: { aud: 'somebody-else' } }],
  ['another nonce', { claims: { nonce: 'another' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['an end in the past', { claims: { exp: 1 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['the algorithm none', { alg: 'none' }],
  ['a symmetric algorithm', { alg: 'HS256' }],
  ['the signature of another key', { alg: 'other-key' }],
  ['no ID token', { alg: 'absent' }],
] as const)('an ID token with %s is refused', async (_name, lie) => {
  const { address, serve } = await lyingProvider(lie);
  const harness: Harness = await harnessFor(address);
  const org: TestOrganisation = await harness.newOrganisation();
  const started = await start(harness);
  const sent = new URL(String(started.headers.location)).searchParams;
  serve(String(sent.get('nonce')), org.owner.email);
  const answer = await finish(harness, `${CALLBACK}?code=c&state=${sent.get('state')}`, cookie(started, 'firsthand_oidc'));
  expect([answer.status, answer.body.error?.code]).toEqual([401, 'OIDC_FAILED']);
  expect(cookie(answer, 'firsthand_session')).toBe('');
});

test('the same provider is accepted without the forgery', async () => {
  const { address, serve } = await lyingProvider({});
  const harness = await harnessFor(address);
  const org = await harness.newOrganisation();
  const started = await start(harness);
  const sent = new URL(String(started.headers.location)).searchParams;
  serve(String(sent.get('nonce')), org.owner.email);
  const answer = await finish(harness, `${CALLBACK}?code=c&state=${sent.get('state')}`, cookie(started, 'firsthand_oidc'));
  expect(answer.status, JSON.stringify(answer.body)).toBe(302);
});

interface Lie {
  discovery?: 500 | 'text';
  issuer?: string;
  claims?: Record<string, unknown>;
  alg?: 'none' | 'HS256' | 'other-key' | 'absent';
}
/** A provider that says what it is told to say. */
async function lyingProvider(lie: Lie) {
  const keys = await generateKeyPair('RS256');
  const others = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
  let nonce = '';
  let email = '';
  const provider = createServer(async (req, res) => {
    const json = (body: object, status = 200) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (req.url?.includes('openid-configuration')) {
      if (lie.discovery === 500) return json({}, 500);
      if (lie.discovery === 'text') return res.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      return json({
        issuer: lie.issuer ?? address,
        authorization_endpoint: `${address}/authorize`,
        token_endpoint: `${address}/token`,
        jwks_uri: `${address}/jwks`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (req.url === '/jwks') return json({ keys: [jwk] });
    const id_token = await idToken();
    return json({ access_token: 'at', token_type: 'Bearer', ...(lie.alg === 'absent' ? {} : { id_token }) });
  });
  const address = await listen(provider);
  onTestFinished(() => {
    provider.closeAllConnections();
    provider.close();
  });

  async function idToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const truth = { iss: address, aud: CLIENT.oidcClientId, sub: 's', nonce, iat: now, exp: now + 60, email, email_verified: true };
    const claims = { ...truth, ...lie.claims };
    if (lie.alg === 'none') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'none' })}.${part(claims)}.`;
    }
    const signer = new SignJWT(claims);
    if (lie.alg === 'HS256') return await signer.setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.oidcClientSecret));
    return await signer.setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(lie.alg === 'other-key' ? others.privateKey : keys.privateKey);
  }
  return {
    address,
    serve(forNonce: string, forEmail: string) {
      nonce = forNonce;
      email = forEmail;
    },
  };
}
