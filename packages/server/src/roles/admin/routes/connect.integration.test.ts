/** The OAuth connect flow against a real provider, and against providers that lie. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Answer, type Harness, type HarnessOptions, startHarness, type TestOrganisation } from '../testing/harness.ts';
import { signInAtProvider } from '../testing/sign-in-at-provider.ts';

const BASE = 'https://console.test';
const CALLBACK = `${BASE}/v1/oauth/callback`;
const CLIENT = { client_id: 'shop', client_secret: 'a secret of the organisation' };
const GOOGLE = { customer_id: '1234567890', conversion_action_id: '987654321', ...CLIENT };

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
async function setUp(settings: HarnessOptions['settings'] = {}): Promise<{ harness: Harness; org: TestOrganisation; token: string }> {
  const harness = await startHarness({ settings: { baseUrl: BASE, ...settings } });
  onTestFinished(() => harness.close());
  const org = await harness.newOrganisation();
  return { harness, org, token: (await org.user('editor')).token };
}
type SetUp = Awaited<ReturnType<typeof setUp>>;

async function install({ harness, token }: SetUp, vendor: string, config: object): Promise<string> {
  const { status, body } = await harness.call('POST', `integration-catalog/${vendor}/install`, { token, body: { name: 'V', config } });
  expect(status, JSON.stringify(body)).toBe(201);
  return (body.template as { id: string }).id;
}
const begin = ({ harness, token }: SetUp, templateId: string) =>
  harness.call('POST', `integration-templates/${templateId}/connect`, { token });
const cookieOf = (answer: Answer) => String([answer.headers['set-cookie']].flat()[0]).split(';')[0] ?? '';
const comeBack = ({ harness }: SetUp, query: string, cookie: string) =>
  harness.call('GET', `/v1/oauth/callback?${query}`, { headers: cookie === '' ? {} : { cookie } });
const stateOf = (answer: Answer) => new URL(String(answer.body.authorize_url)).searchParams.get('state') ?? '';
async function latest(
  { harness, token }: SetUp,
  templateId: string,
): Promise<{ revision_number: number; config: Record<string, unknown> }> {
  const { body } = await harness.call('GET', `integration-templates/${templateId}`, { token });
  return body.latest_revision as never;
}

/** Returns the query that the provider sends the browser back with. */
async function agreeAtProvider(issuer: string, authorizeUrl: string): Promise<string> {
  const end = await signInAtProvider(`${issuer}/auth${new URL(authorizeUrl).search}`, 'ada', CALLBACK);
  return new URL(end).search.slice(1);
}

let issuer: string;
let server: Server;
beforeAll(async () => {
  server = createServer();
  issuer = await listen(server);
  const provider = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    pkce: { required: () => true },
    scopes: ['https://www.googleapis.com/auth/datamanager', 'https://www.googleapis.com/auth/adwords', 'offline_access'],
    issueRefreshToken: async () => true,
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  });
  server.on('request', provider.callback());
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a person connects a template at a real provider: PKCE, code, sealed refresh token, a new revision', async () => {
  const at = await setUp();
  const templateId = await install(at, 'google_ads', { ...GOOGLE, endpoint: issuer });
  const started = await begin(at, templateId);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  const authorize = new URL(String(started.body.authorize_url));
  expect(`${authorize.origin}${authorize.pathname}`, 'the browser goes to Google, not to the endpoint').toBe(
    'https://accounts.google.com/o/oauth2/v2/auth',
  );
  expect(Object.fromEntries(authorize.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'shop',
    redirect_uri: CALLBACK,
    scope: 'https://www.googleapis.com/auth/datamanager https://www.googleapis.com/auth/adwords',
    access_type: 'offline',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(String(started.headers['set-cookie'])).toMatch(/; Path=\/v1\/oauth\/callback; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
  expect(started.body.redirect_uri).toBe(CALLBACK);

  // The provider knows no Google scopes without an OIDC scope of its own.
  authorize.searchParams.set('scope', 'openid offline_access');
  const query = await agreeAtProvider(issuer, authorize.href);
  const answer = await comeBack(at, query, cookieOf(started));
  expect([answer.status, answer.headers.location], JSON.stringify(answer.body)).toEqual([302, `/templates/${templateId}?revision=2`]);
  const revision = await latest(at, templateId);
  expect(revision).toMatchObject({ revision_number: 2, config: { ...GOOGLE, client_secret: expect.stringMatching(/^••••/) } });
  expect(revision.config.refresh_token).toMatch(/^••••.{4}$/);
  const stored = await at.harness.store.db.selectFrom('revisions').selectAll().where('template_id', '=', templateId).execute();
  expect(JSON.stringify(stored), 'sealed, not in the clear').not.toContain(CLIENT.client_secret);
  const audit = await at.harness.call('GET', 'audit-logs?action=template.connected', { token: at.org.owner.token });
  expect(audit.body.audit_logs).toHaveLength(1);
  expect(JSON.stringify(audit.body)).not.toContain(CLIENT.client_secret);
  const again = await comeBack(at, query, cookieOf(started));
  expect([again.status, again.body.error.code], 'the state works once').toEqual([400, 'CONNECT_FAILED']);
  expect((await latest(at, templateId)).revision_number).toBe(2);
});

test('an integration is connected from its pinned revision, and pins the new one', async () => {
  const provider = await lyingProvider({ body: { refresh_token: 'fresh-token-1234' } });
  const at = await setUp();
  const { harness, token } = at;
  const config = {
    auth: 'oauth',
    ...CLIENT,
    client_id: '{{pipeline_param.CLIENT}}',
    client_secret: '{{pipeline_param.CLIENT_SECRET}}',
    refresh_token: 'an old token',
    endpoint: provider.address,
  };
  const pipeline = await harness.call('POST', 'pipelines', {
    token,
    body: { name: 'P', parameters: { CLIENT: 'from-the-pipeline', CLIENT_SECRET: CLIENT.client_secret } },
  });
  const made = await harness.call('POST', 'integrations', {
    token,
    body: { source_id: pipeline.body.id, vendor: 'hubspot', name: 'H', config },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  await harness.call('POST', `integration-templates/${made.body.template_id}/revisions`, {
    token,
    body: { config: { ...config, rate_limit_rps: 1 }, change_summary: 'Not pinned' },
  });
  const started = await harness.call('POST', `integrations/${made.body.id}/connect`, { token });
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  const query = new URL(String(started.body.authorize_url)).searchParams;
  expect([query.get('client_id'), query.get('code_challenge')], 'HubSpot takes no PKCE').toEqual(['from-the-pipeline', null]);
  const answer = await comeBack(at, `code=c&state=${stateOf(started)}`, cookieOf(started));
  expect([answer.status, answer.headers.location]).toEqual([
    302,
    `/pipelines/${pipeline.body.id}?tab=integrations&integration=${made.body.id}`,
  ]);
  expect(Object.fromEntries(new URLSearchParams(provider.seen[0]))).toEqual({
    grant_type: 'authorization_code',
    code: 'c',
    redirect_uri: CALLBACK,
    client_id: 'from-the-pipeline',
    client_secret: CLIENT.client_secret,
  });
  const pinned = await harness.call('GET', `pipelines/${pipeline.body.id}/integrations/${made.body.id}`, { token });
  expect(pinned.body.revision_number).toBe(3);
  const { config: now } = await latest(at, String(made.body.template_id));
  expect(now).toMatchObject({ client_id: '{{pipeline_param.CLIENT}}', refresh_token: '••••1234' });
  expect(now.rate_limit_rps, 'from the pinned revision').toBeUndefined();
});

test('the state belongs to one browser, one session and ten minutes', async () => {
  const provider = await lyingProvider({ body: { refresh_token: 'fresh-token-1234' } });
  const at = await setUp();
  const { harness, org } = at;
  const templateId = await install(at, 'google_ads', { ...GOOGLE, endpoint: provider.address });
  const refuse = async (query: string, cookie: string) => {
    const answer = await comeBack(at, query, cookie);
    expect([answer.status, answer.body.error?.code, answer.headers.location], query).toEqual([400, 'CONNECT_FAILED', undefined]);
  };
  const started = await begin(at, templateId);
  const other = await begin(at, templateId);
  await refuse(`code=c&state=${stateOf(started)}`, '');
  await refuse(`code=c&state=${stateOf(started)}`, 'firsthand_connect=nonsense');
  await refuse(`code=c&state=${stateOf(started)}`, cookieOf(other));
  await refuse('code=c&state=nonsense', cookieOf(started));
  await refuse('code=c', cookieOf(started));
  await refuse('', '');
  const duplicated = await comeBack(at, `code=c&state=a&state=b`, cookieOf(started));
  expect(duplicated.status).toBe(422);
  expect(provider.seen, 'no code left the house').toEqual([]);

  harness.clock.advance(601_000);
  await refuse(`code=c&state=${stateOf(started)}`, cookieOf(started));

  const demoted = await org.user('editor');
  const begun = await harness.call('POST', `integration-templates/${templateId}/connect`, { token: demoted.token });
  await harness.call('PUT', `users/${demoted.id}`, { token: org.owner.token, body: { role: 'viewer' } });
  await refuse(`code=c&state=${stateOf(begun)}`, cookieOf(begun));
  const removed = await org.user('editor');
  const left = await harness.call('POST', `integration-templates/${templateId}/connect`, { token: removed.token });
  await harness.call('DELETE', `users/${removed.id}`, { token: org.owner.token });
  await refuse(`code=c&state=${stateOf(left)}`, cookieOf(left));
  expect(provider.seen).toEqual([]);

  const late = await begin(at, templateId);
  const changed = { ...(await latest(at, templateId)).config, client_id: 'another client' };
  await harness.call('POST', `integration-templates/${templateId}/revisions`, { token: at.token, body: { config: changed } });
  await refuse(`code=c&state=${stateOf(late)}`, cookieOf(late));
  expect(provider.seen, 'a code for the old client is not spent on the new one').toEqual([]);
});

test('the query cannot choose the redirect target', async () => {
  const provider = await lyingProvider({ body: { refresh_token: 'fresh-token-1234' } });
  const at = await setUp();
  const templateId = await install(at, 'google_ads', { ...GOOGLE, endpoint: provider.address });
  const started = await begin(at, templateId);
  const evil = 'redirect_uri=https://evil.example&return_to=//evil.example&next=https://evil.example';
  const answer = await comeBack(at, `code=c&state=${stateOf(started)}&${evil}`, cookieOf(started));
  expect([answer.status, answer.headers.location]).toEqual([302, `/templates/${templateId}?revision=2`]);
});

test('the vendor’s error is returned in the documented shape, as plain text', async () => {
  const at = await setUp();
  const templateId = await install(at, 'google_ads', GOOGLE);
  const started = await begin(at, templateId);
  const said = encodeURIComponent('<script>alert(1)</script>\r\nThe user said no');
  const answer = await comeBack(at, `error=access_denied&error_description=${said}&state=${stateOf(started)}`, cookieOf(started));
  expect([answer.status, answer.body]).toEqual([
    400,
    {
      error: {
        code: 'CONNECT_FAILED',
        message: 'The vendor refused the connection: access_denied (<script>alert(1)</script> The user said no).',
      },
    },
  ]);
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringContaining('application/json'),
    'x-content-type-options': 'nosniff',
  });
});

test('a browser gets the error as a page, without the markup that the vendor sent', async () => {
  const at = await setUp();
  const started = await begin(at, await install(at, 'google_ads', GOOGLE));
  const query = `error=access_denied&error_description=${encodeURIComponent('<script>alert(1)</script>')}&state=${stateOf(started)}`;
  const headers = { accept: 'text/html,*/*;q=0.8', cookie: cookieOf(started) };
  const page = await at.harness.call('GET', `/v1/oauth/callback?${query}`, { headers });
  expect([page.status, page.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  expect(page.body).toContain('access_denied (&lt;script&gt;alert(1)&lt;/script&gt;).');
});

test.each([
  ['an error', { status: 400, body: { error: 'invalid_grant', error_description: 'Bad code' } }, 400, 'invalid_grant (Bad code)'],
  ['an error under 200', { body: { error: 'invalid_client' } }, 400, 'invalid_client'],
  ['no refresh token', { body: { access_token: 'a' } }, 400, 'no refresh token'],
  ['a number as token', { body: { refresh_token: 12 } }, 400, 'malformed'],
  ['a token with line breaks', { body: { refresh_token: 'a\r\nX-Evil: 1' } }, 400, 'malformed'],
  ['an endless token', { body: { refresh_token: 'x'.repeat(20_000) } }, 400, 'malformed'],
  ['HTML', { body: '<html>sign in</html>' }, 400, 'not a JSON object'],
  ['a list', { body: [] }, 400, 'not a JSON object'],
  ['nothing', { body: '' }, 400, 'not a JSON object'],
  ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }, 400, 'http_302'],
  ['an outage', { status: 503, body: '' }, 503, 'http_503'],
] as const)('a token endpoint that answers %s changes nothing', async (_name, reply, status, reason) => {
  const provider = await lyingProvider(reply);
  const at = await setUp();
  const templateId = await install(at, 'google_ads', { ...GOOGLE, endpoint: provider.address });
  const started = await begin(at, templateId);
  const answer = await comeBack(at, `code=c&state=${stateOf(started)}`, cookieOf(started));
  expect([answer.status, answer.body.error.code], JSON.stringify(answer.body)).toEqual([
    status,
    status === 503 ? 'UNAVAILABLE' : 'CONNECT_FAILED',
  ]);
  expect(answer.body.error.message).toContain(reason);
  expect(answer.body.error.message).not.toContain(CLIENT.client_secret);
  expect((await latest(at, templateId)).revision_number).toBe(1);
});

test('a token endpoint that is down is 503', async () => {
  const gone = createServer();
  const address = await listen(gone);
  await new Promise((resolve) => gone.close(resolve));
  const at = await setUp();
  const templateId = await install(at, 'google_ads', { ...GOOGLE, endpoint: address });
  const started = await begin(at, templateId);
  const answer = await comeBack(at, `code=c&state=${stateOf(started)}`, cookieOf(started));
  expect([answer.status, answer.body.error.code, answer.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '5']);
});

test('a vendor that cannot be connected gives the reason', async () => {
  const at = await setUp();
  const { harness, org } = at;
  const webhook = await begin(at, await install(at, 'webhook', { url: 'https://hooks.example' }));
  expect([webhook.status, webhook.body.error.details]).toEqual([
    422,
    [{ field: 'vendor', message: 'Webhook has no connect flow: enter its credentials' }],
  ]);
  const incomplete = await begin(at, await install(at, 'google_ads', {}));
  expect(incomplete.body.error.details?.map(({ field }) => field)).toEqual(['config.client_id', 'config.client_secret']);
  const unresolved = await begin(at, await install(at, 'google_ads', { ...GOOGLE, client_id: '{{pipeline_param.CLIENT}}' }));
  expect(unresolved.body.error.details).toEqual([
    { field: 'config.client_id', message: 'refers to a pipeline parameter that has no value' },
  ]);
  const made = await harness.call('POST', 'api-tokens', { token: org.owner.token, body: { name: 'CI', role: 'editor' } });
  const machine = await begin({ ...at, token: made.body.token }, await install(at, 'google_ads', GOOGLE));
  expect([machine.status, machine.body.error.code], 'a person must sign in').toEqual([403, 'FORBIDDEN']);
});

/** A token endpoint that says what it is told to say. */
interface Lie {
  body: unknown;
  status?: number;
  headers?: Record<string, string>;
}
async function lyingProvider({ body, status = 200, headers = {} }: Lie) {
  const seen: string[] = [];
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const provider = createServer(async (req: IncomingMessage, res: ServerResponse) => {
    let sent = '';
    for await (const chunk of req) sent += chunk;
    seen.push(sent);
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  const address = await listen(provider);
  onTestFinished(() => {
    provider.closeAllConnections();
    provider.close();
  });
  return { address, seen };
}
