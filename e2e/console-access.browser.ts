/** Who may enter and do what, in Chromium on the running service: two-step sign-in, API tokens, OpenID Connect, roles, sessions. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminClient } from '../packages/cli/src/demo/admin-client.ts';
import { readTotpSecret, stepAt, totpCode } from '../packages/server/src/roles/admin/auth/totp.ts';
import { freePort } from '../packages/server/test/servers/index.ts';
import { send } from './harness/client.ts';
import { openPage, signIn, startConsole } from './harness/console.ts';
import { OWNER } from './harness/service.ts';

const CLIENT = { OIDC_CLIENT_ID: 'firsthand', OIDC_CLIENT_SECRET: 'a secret that both sides know' };
// The provider must know where the service sends people back to, and the service where the provider is.
const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const issuer = createServer();
afterAll(() => {
  issuer.closeAllConnections();
  issuer.close();
});
await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
const provider = new Provider(address, {
  clients: [
    {
      client_id: CLIENT.OIDC_CLIENT_ID,
      client_secret: CLIENT.OIDC_CLIENT_SECRET,
      redirect_uris: [`${base}/v1/admin/auth/oidc/callback`],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, email: `${id}@firsthand.test`, email_verified: true }),
  }),
  features: { devInteractions: { enabled: true } },
});
issuer.on('request', provider.callback());
const { service, browsing, page, admin, errors } = await startConsole({
  PORT: String(port),
  BASE_URL: base,
  OIDC_ISSUER: address,
  ...CLIENT,
});
beforeAll(() => admin.post('/pipelines', { name: 'Web shop' }));

describe('who may enter the console', () => {
  test('an API token is shown once, works, and stops working when it is revoked', async () => {
    await page.goto(`${service.url}/team?tab=tokens`);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Deployment');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const token = (await page.getByLabel('The API token').innerText()).trim();
    const read = async () => (await fetch(`${service.url}/v1/admin/pipelines`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await read()).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.reload();
    await page.getByRole('cell', { name: OWNER.email, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Revoke Deployment' }).click();
    expect(await page.content()).not.toContain(token);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.method()));
    // Pressed again while the dialog fades: it is done once.
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).dblclick();
    await page.getByText('No API tokens').waitFor();
    expect(asked.filter((method) => method === 'DELETE')).toHaveLength(1);
    await expect.poll(read).toBe(401);
  });

  test('two-step sign-in is set up with an app’s code, and then the password alone is not enough', async () => {
    const user = { email: 'two-step@firsthand.test', password: 'two-step-password' };
    await admin.post('/users', { ...user, name: 'Two steps', role: 'viewer' });
    const other = await openPage(browsing, errors);
    await signIn(other, service.url, user);
    await other.goto(`${service.url}/team?tab=sign-in`);
    await other.getByRole('button', { name: 'Set up' }).click();
    const secret = readTotpSecret((await other.getByLabel('The key for your authenticator app').innerText()).trim()) as Buffer;
    await other.getByLabel('Code that the app shows').fill('000000');
    await other.getByRole('textbox', { name: 'Your password', exact: true }).fill(user.password);
    await other.getByRole('button', { name: 'Turn on' }).click();
    // A wrong code is explained at its field, and nothing typed is lost.
    await expect.poll(() => other.getByLabel('Code that the app shows').getAttribute('aria-invalid')).toBe('true');
    await other.getByLabel('Code that the app shows').fill(totpCode(secret, stepAt(Date.now())));
    await other.getByRole('button', { name: 'Turn on' }).click();
    const [recovery] = (await other.getByLabel('Recovery codes').innerText()).trim().split('\n');
    await other.getByRole('button', { name: 'I have kept them' }).click();
    await other.getByText('10 recovery codes are left').waitFor();
    await other.context().close();
    // The code that turned it on is used up; a recovery code works once.
    const again = await openPage(browsing, errors);
    await again.goto(service.url);
    await again.getByLabel('E-mail address').fill(user.email);
    await again.locator('input[type=password]').fill(user.password);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.getByLabel('Code from your authenticator app').fill(recovery ?? '');
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.getByRole('navigation', { name: 'Pages' }).waitFor();
    await again.goto(`${service.url}/team?tab=sign-in`);
    await again.getByText('9 recovery codes are left').waitFor();
    await again.context().close();
  });

  test('a user of the organisation’s identity provider signs in without a password of their own', async () => {
    const other = await openPage(browsing, errors);
    await other.goto(`${service.url}/pipelines`);
    await other.getByRole('link', { name: 'Sign in with your organisation’s account' }).click();
    await other.locator('input[name=login]').fill('mia');
    await other.locator('input[name=password]').fill('any');
    await other.locator('button[type=submit]').click();
    await other.getByRole('button', { name: 'Continue' }).click();
    await other.getByRole('navigation', { name: 'Pages' }).waitFor();
    await other.getByRole('button', { name: /viewer/ }).click();
    await other.getByText('mia@firsthand.test').waitFor();
    await other.context().close();
  });

  test('a viewer sees which role an action needs', async () => {
    const viewer = { email: 'viewer@firsthand.test', password: 'viewer-password-1' };
    await admin.post('/users', { ...viewer, name: 'Viewer', role: 'viewer' });
    const other = await openPage(browsing, errors);
    await signIn(other, service.url, viewer);
    await other.goto(`${service.url}/pipelines`);
    const create = other.getByRole('button', { name: 'New pipeline' });
    await create.waitFor();
    // The role is in reach of the keyboard and of a tap, without a mouse to hover.
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    const role = other.getByRole('tooltip', { name: 'Needs the role editor' });
    await create.focus();
    await role.waitFor();
    await create.blur();
    await role.waitFor({ state: 'detached' });
    await create.dispatchEvent('click');
    await role.waitFor();
    expect(await other.getByRole('dialog').count()).toBe(0);
    // On a telephone it stands in the button.
    expect(await create.innerText()).not.toContain('editor');
    await other.setViewportSize({ width: 390, height: 844 });
    expect(await create.innerText()).toMatch(/needs editor$/);
    await other.setViewportSize({ width: 1280, height: 800 });
    // A link into the form does not open it either, and the search offers no action that the API would refuse.
    await other.goto(`${service.url}/pipelines?new=yes`);
    await create.waitFor();
    expect(await other.getByRole('dialog').count()).toBe(0);
    await other.keyboard.press('ControlOrMeta+k');
    await other.getByRole('textbox', { name: 'Search' }).fill('create');
    await other.getByText('Nothing found').waitFor();
    const { id } = await admin.post<{ id: string }>('/pipelines', { name: 'Seen' });
    const config = { url: 'https://example.com/hook' };
    await admin.post('/integrations', { source_id: id, vendor: 'webhook', name: 'Seen hook', config });
    await other.goto(`${service.url}/pipelines/${id}?tab=integrations`);
    const panel = other.getByRole('region', { name: 'Seen hook' });
    await panel.getByText('Changes need the role editor.').waitFor();
    expect(await panel.getByLabel('Enabled').isDisabled()).toBe(true);
    const save = panel.getByRole('button', { name: 'Save' });
    const described = await save.getAttribute('aria-describedby');
    expect(await other.locator(`[id="${described}"]`).textContent()).toBe('Needs the role editor');
    // Pressed anyway, the form is not sent.
    let sent = 0;
    other.on('request', (request) => (sent += request.method() === 'PUT' ? 1 : 0));
    await save.press('Enter');
    await other.getByRole('tooltip', { name: 'Needs the role editor' }).waitFor();
    expect(sent).toBe(0);
    await other.context().close();
  });

  test('a viewer reads the form of the data layer and cannot type in it (it said so only at Save)', async () => {
    const rules = {
      consent: { mapping: { statistics: 'analytics' } },
      pii_rules: { fields: [{ path: 'traits.email', action: 'hash' }] },
      routing_rules: [{ condition: { field: 'event', op: 'eq', value: 'Internal' }, action: 'drop' }],
    };
    await admin.put('/data-layer', { config: rules });
    const viewer = { email: 'reader@firsthand.test', password: 'reader-password-1' };
    await admin.post('/users', { ...viewer, name: 'Reader', role: 'viewer' });
    const other = await openPage(browsing, errors);
    await signIn(other, service.url, viewer);
    await other.goto(`${service.url}/data-layer?open=consent,bot_filtering,pii_rules,session,identity,custom_js,routing_rules`);
    await other.getByText('Changes need the role admin.').waitFor();
    await other.getByRole('button', { name: 'Add a rule' }).waitFor();
    const open = other.locator('.mantine-Accordion-panel').locator('input:not([type=hidden]), select, textarea, button');
    // The samples beside the form can be chosen by everybody.
    const enabled = () => open.evaluateAll((all) => all.filter((one) => !one.matches(':disabled')).map((one) => one.textContent));
    expect((await enabled()).filter((text) => !text?.startsWith('See the effect on'))).toEqual([]);
    expect(await open.count()).toBeGreaterThan(25);
    expect(await other.getByRole('textbox', { name: 'Custom code' }).getAttribute('aria-readonly')).toBe('true');
    await other.context().close();
  });

  test('a role is changed and a user disabled only after a question that says what it does', async () => {
    const user = { email: 'colleague@firsthand.test', password: 'colleague-password-1' };
    const { id } = await admin.post<{ id: string }>('/users', { ...user, name: 'Colleague', role: 'editor' });
    const read = () => admin.get<{ role: string; status: string }>(`/users/${id}`);
    await page.goto(`${service.url}/team`);
    const role = page.getByRole('combobox', { name: `Role of ${user.email}` });
    await role.click();
    await page.getByRole('option', { name: 'viewer' }).click();
    const question = page.getByRole('dialog');
    await question.getByText('They must sign in again').waitFor();
    await question.getByRole('button', { name: 'Keep' }).click();
    await question.waitFor({ state: 'detached' });
    expect((await read()).role).toBe('editor');
    await expect.poll(() => role.inputValue()).toBe('editor');
    const row = page.getByRole('row').filter({ hasText: user.email });
    await row.getByRole('button', { name: 'Disable' }).click();
    await question.getByText('They are signed out at once').waitFor();
    await question.getByRole('button', { name: 'Disable' }).click();
    await row.getByRole('button', { name: 'Enable' }).waitFor();
    expect((await read()).status).toBe('disabled');
  });

  test('a user with API tokens is demoted, disabled or removed after a question that counts and names the tokens', async () => {
    const user = { email: 'machines@firsthand.test', password: 'machines-password-1' };
    const { id } = await admin.post<{ id: string }>('/users', { ...user, name: 'Machines', role: 'admin' });
    const maker = new AdminClient(service.url, user.email, user.password);
    const newToken = (name: string, role: string) => maker.post<{ token: string }>('/api-tokens', { name, role });
    const [{ token }] = [await newToken('Deployment', 'viewer'), await newToken('Nightly', 'admin')];
    const status = async () => (await fetch(`${service.url}/v1/admin/pipelines`, { headers: { authorization: `Bearer ${token}` } })).status;
    await page.goto(`${service.url}/team`);
    const question = page.getByRole('dialog');
    const keep = async () => {
      await question.getByRole('button', { name: 'Keep' }).click();
      await question.waitFor({ state: 'detached' });
    };
    await page.getByRole('combobox', { name: `Role of ${user.email}` }).click();
    await page.getByRole('option', { name: 'viewer' }).click();
    await question.getByText('1 API token with more rights than that ends: Nightly.').waitFor();
    await keep();
    const row = page.getByRole('row').filter({ hasText: user.email });
    await row.getByRole('button', { name: 'Disable' }).click();
    await question.getByText('2 API tokens are refused until then: Deployment, Nightly.').waitFor();
    await keep();
    await row.getByRole('button', { name: 'Remove' }).click();
    await question.getByText('2 API tokens end for good: Deployment, Nightly.').waitFor();
    expect(await status()).toBe(200);
    await question.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await status()).toBe(401);
    const { api_tokens } = await admin.get<{ api_tokens: { created_by: string }[] }>('/api-tokens');
    expect(api_tokens.filter(({ created_by }) => created_by === id)).toEqual([]);
  });

  test('consent is taken off an integration only after a question that counts the events held back', async () => {
    const { pipelines } = await admin.get<{ pipelines: [{ id: string }] }>('/pipelines');
    const path = `/pipelines/${pipelines[0].id}/integrations`;
    const { template } = await admin.post<{ template: { id: string } }>('/integration-templates', {
      name: 'Warehouse',
      vendor: 'webhook',
      config: { url: 'https://example.com/hook' },
    });
    const { id } = await admin.post<{ id: string }>(path, { template_id: template.id, consent_category: 'analytics' });
    await page.goto(`${service.url}/pipelines/${pipelines[0].id}?tab=consent`);
    const needed = page.getByRole('combobox', { name: 'Consent that Warehouse needs' });
    const question = page.getByRole('dialog');
    const takeOff = async (answer: string) => {
      await needed.click();
      await page.getByRole('option', { name: 'none: all events' }).click();
      await question.getByText('0 events were held back from it for consent').waitFor();
      await question.getByRole('button', { name: answer }).click();
      await question.waitFor({ state: 'detached' });
    };
    const stored = async () => (await admin.get<{ consent_category: string | null }>(`${path}/${id}`)).consent_category;
    await takeOff('Keep');
    expect(await stored()).toBe('analytics');
    await expect.poll(() => needed.inputValue()).toBe('analytics');
    await takeOff('Send all events');
    await expect.poll(stored).toBe(null);
  });

  test('a pipeline is stopped, its secret rotated and it is deleted only after a question that counts what it loses', async () => {
    const { id, pipeline_key } = await admin.post<{ id: string; pipeline_key: string }>('/pipelines', { name: 'Closing shop' });
    const send = () =>
      fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'track', event: 'Order Completed', messageId: 'the only one' }),
      });
    await expect.poll(async () => (await send()).status).toBe(200);
    const received = async () =>
      (await admin.get<{ totals: { received: number } }>(`/stats?pipeline_id=${id}&from=${new Date(Date.now() - 3_600_000).toISOString()}`))
        .totals.received;
    await expect.poll(received).toBe(1);
    const question = page.getByRole('dialog');
    const answer = async (said: RegExp, choice: string) => {
      await question.getByText(said).waitFor();
      await question.getByRole('button', { name: choice, exact: true }).click();
      await question.waitFor({ state: 'detached' });
    };
    const stored = () => admin.get<object>(`/pipelines/${id}`);
    await page.goto(`${service.url}/pipelines/${id}?tab=settings`);
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await page.getByLabel('Domains that may send events').first().fill('shop.example');
    await page.keyboard.press('Enter');
    await page.getByLabel('Require a challenge token').check();
    await save.click();
    await question.getByText('Events without a challenge token are rejected').waitFor();
    await answer(/pages on other domains than shop\.example are rejected.*it received 1 event\./, 'Refuse them');
    await expect.poll(stored).toMatchObject({ domain_allowlist: ['shop.example'], challenge_token_required: true });
    await page.getByLabel('Accept events').uncheck();
    await page.getByLabel('Days to keep events').fill('1');
    await save.click();
    await question.getByText('That is 0 now.').waitFor();
    await answer(/it received 1 event\./, 'Not now');
    expect(await stored()).toMatchObject({ enabled: true, retention_days: null });
    await save.click();
    await answer(/it received 1 event\./, 'Stop accepting');
    await expect.poll(stored).toMatchObject({ enabled: false, retention_days: 1 });
    await page.getByRole('button', { name: 'Rotate the secret …' }).click();
    await answer(/In the last 24 hours \d+ events? came this way/, 'Keep');
    await page.getByRole('button', { name: 'Delete this pipeline …' }).click();
    await answer(/it received 1 event\. Its 0 integrations go with it, and 0 waiting deliveries are not made/, 'Delete the pipeline');
    await page.getByRole('heading', { name: 'Pipelines' }).waitFor();
    expect((await admin.get<{ pipelines: { id: string }[] }>('/pipelines')).pipelines.map((pipeline) => pipeline.id)).not.toContain(id);
  });

  test('the boxes and numbers of a pipeline lead to what they show', async () => {
    const { id } = await admin.post<{ id: string }>('/pipelines', { name: 'Linked' });
    const { template } = await admin.post<{ template: { id: string } }>('/integration-templates', {
      name: 'Linked hook',
      vendor: 'webhook',
      config: { url: 'https://example.com/hook' },
    });
    const made = await admin.post<{ id: string }>(`/pipelines/${id}/integrations`, { template_id: template.id });
    await admin.post(`/integration-templates/${template.id}/revisions`, { config: { url: 'https://example.com/other' } });
    await page.goto(`${service.url}/pipelines/${id}?range=7d`);
    const row = page.getByRole('region', { name: 'Integrations' }).getByRole('row').filter({ hasText: 'Linked hook' });
    const results = async (result: string) =>
      Object.fromEntries(
        new URL((await row.locator(`a[href*="delivery=${result}"]:visible`).getAttribute('href')) ?? '', service.url).searchParams,
      );
    await row.getByRole('link', { name: '2 is newer' }).waitFor();
    expect(await results('delivered')).toEqual({ pipeline: id, integration: made.id, delivery: 'delivered', range: '7d', time: 'outcome' });
    expect(await results('waiting')).toEqual({ pipeline: id, integration: made.id, delivery: 'waiting' });
    const received = new URL((await page.getByRole('link', { name: /^Received/ }).getAttribute('href')) ?? '', service.url);
    expect(Object.fromEntries(received.searchParams)).toEqual({ pipeline: id, range: '7d' });
    await page
      .getByRole('region', { name: 'Picture of the pipeline' })
      .getByRole('link', { name: /^Linked hook/ })
      .click();
    await expect.poll(() => new URL(page.url()).searchParams.get('integration')).toBe(made.id);
  });

  test('an event moves the count on the edge without another request', async () => {
    const { id, pipeline_key } = await admin.post<{ id: string; pipeline_key: string }>('/pipelines', { name: 'Counted' });
    // When the live counts arrive, the statistics are read once more, up to the minute at which the live counts begin.
    const continued = (part: string) =>
      page.waitForResponse((answer) => {
        const url = new URL(answer.url());
        return url.pathname.endsWith('/stats') && url.search.includes(part) && Date.parse(url.searchParams.get('to') ?? '') < Date.now();
      });
    await Promise.all([continued('with_waiting'), continued('group_by=integration_id'), page.goto(`${service.url}/pipelines/${id}`)]);
    await page.route('**/v1/admin/stats?*', () => undefined);
    await send(service, pipeline_key, '/v1/t', { type: 'track', event: 'Seen', anonymousId: 'v', messageId: 'counted-live' });
    await page.getByRole('region', { name: 'Picture of the pipeline' }).getByRole('link', { name: '1 event received' }).waitFor();
    await page.unroute('**/v1/admin/stats?*');
  });

  test('a user whose role is lowered must sign in again; what was typed stays, and the API says which role it needs', async () => {
    const editor = { email: 'editor@firsthand.test', password: 'editor-password-1' };
    const { id } = await admin.post<{ id: string }>('/users', { ...editor, name: 'Editor', role: 'editor' });
    const other = await openPage(browsing, errors);
    await signIn(other, service.url, editor);
    await other.goto(`${service.url}/pipelines?new=yes`);
    await other.getByRole('dialog').getByLabel('Name').fill('Typed as an editor');
    await admin.put(`/users/${id}`, { role: 'viewer' });
    const create = other.getByRole('button', { name: 'Create', exact: true });
    // The live connection may have ended the session already: then the sign-in lies over the button.
    await create.dispatchEvent('click');
    await other.getByText('Your session has ended.').waitFor();
    await other.getByLabel('Sign in again').locator('input[type=password]').fill(editor.password);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByText('Your session has ended.').waitFor({ state: 'detached' });
    expect(await other.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed as an editor');
    await create.click();
    await other.getByText('This needs the role editor; yours is viewer.').waitFor();
    expect(await other.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed as an editor');
    await other.context().close();
  });

  test('a session that has ended asks for the password over the page, and what was typed stays', async () => {
    await page.goto(`${service.url}/team?new=yes`);
    await page.getByRole('dialog').getByLabel('Name').fill('Typed before the session ended');
    await page.context().clearCookies();
    const refuse = (route: Route) =>
      route.fulfill({ status: 401, json: { error: { code: 'EXPIRED_TOKEN', message: 'The access token has expired.' } } });
    await page.route('**/v1/admin/users', refuse);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.unroute('**/v1/admin/users', refuse);
    await page.getByLabel('Sign in again').locator('input[type=password]').fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed before the session ended');
  });

  test('a sign-out that the service did not confirm says so and can be repeated', async () => {
    await page.goto(`${service.url}/pipelines`);
    const overloaded = (route: Route) =>
      route.request().method() === 'DELETE' ? route.fulfill({ status: 503, json: {} }) : route.continue();
    await page.route('**/v1/admin/auth/session', overloaded);
    await page.getByRole('button', { name: /owner/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are still signed in').waitFor();
    await page.unroute('**/v1/admin/auth/session', overloaded);
    await page.getByRole('button', { name: 'Sign out again' }).click();
    await page.getByRole('heading', { name: 'Sign in to Firsthand' }).waitFor();
    await signIn(page, service.url);
  });

  test('a sign-out holds after a reload, and everywhere ends the other tab too', async () => {
    const tab = await page.context().newPage();
    await tab.goto(`${service.url}/pipelines`);
    await tab.getByRole('heading', { name: 'Pipelines' }).waitFor();
    await page.goto(`${service.url}/pipelines`);
    await page.getByRole('button', { name: /owner/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click();
    for (const each of [page, tab]) await each.getByRole('heading', { name: 'Sign in to Firsthand' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Firsthand' }).waitFor();
    expect(errors).toEqual([]);
  });
});
