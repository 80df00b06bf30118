import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { integration as resource } from '@firsthand/core/config/integration.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfigVersion } from '../../../stores/config/version.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { type Loose, onStory, type Story } from '../testing/story.ts';

const URL = 'https://hooks.example/in';
const TOKEN = 'bearer-token-of-the-receiver';
let made = 0;
const newPipeline = async (story: Story): Promise<string> => (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;
async function newTemplate(story: Story, config: object = { url: URL }): Promise<Loose> {
  return (await story.made('integration-templates', { name: `Template ${++made}`, vendor: 'webhook', config })).template;
}
async function newIntegration(story: Story, config: object = { url: URL }, fields: object = {}) {
  const [pipeline, template] = [await newPipeline(story), await newTemplate(story, config)];
  const integration = await story.made(`pipelines/${pipeline}/integrations`, { template_id: template.id, ...fields });
  return { pipeline, template, integration, path: `pipelines/${pipeline}/integrations/${integration.id}` };
}
const HEALTHY = { status: 'ok', last_success_at: null, last_error: null, waiting: 0, oldest_waiting_at: null, warnings: [] };

onStory('pipeline integrations', (story) => {
  test('pin the latest revision, take the template’s name, and answer every field', async () => {
    const { integration, template, pipeline, path } = await newIntegration(story);
    expect(integration).toMatchObject({
      id: expect.stringMatching(/^int_/),
      org_id: story.org.org_id,
      pipeline_id: pipeline,
      template_id: template.id,
      revision_number: 1,
      name: template.name,
      vendor: 'webhook',
      delivery_mode: 'server_side',
      ...resource.defaults,
      latest_revision_number: 1,
      health: HEALTHY,
    });
    expect(await story.got(path)).toEqual(integration);
    expect(await story.got(`pipelines/${pipeline}/integrations`)).toEqual({ integrations: [integration], total: 1, limit: 50, offset: 0 });
  });

  test('take every writable field, and each can be set back', async () => {
    const set = {
      name: 'Mine',
      enabled: false,
      consent_category: 'marketing',
      event_filter: { event_names: ['Order Completed', '@page', 'e'.repeat(1_024)] },
      rate_limit_rps: 0.5,
      rate_limit_burst: 7,
      rate_limit_daily: 1000,
      max_in_flight: 32,
      max_deliverers: 4,
    };
    const { integration, path } = await newIntegration(story, { url: URL }, set);
    expect(integration).toMatchObject(set);
    const cleared = {
      consent_category: null,
      event_filter: null,
      rate_limit_rps: null,
      rate_limit_burst: null,
      rate_limit_daily: null,
      max_in_flight: null,
      max_deliverers: 1,
    };
    expect(await story.put(path, cleared)).toMatchObject({ ...cleared, name: 'Mine', enabled: false });
  });

  test('may require a consent category with a hyphen', async () => {
    const { integration } = await newIntegration(story, { url: URL }, { consent_category: 'e-mail' });
    expect(integration).toMatchObject({ consent_category: 'e-mail' });
  });

  test.each([
    ['name', { name: '' }],
    ['enabled', { enabled: 'yes' }],
    ['consent_category', { consent_category: 'Not A Category' }],
    ['event_filter', { event_filter: [] }],
    ['event_filter.event_names', { event_filter: { event_names: 'Order Completed' } }],
    ['event_filter.event_names[0]', { event_filter: { event_names: ['e'.repeat(1_025)] } }],
    ['event_filter.event_name', { event_filter: { event_name: [] } }],
    ['rate_limit_rps', { rate_limit_rps: 0 }],
    ['rate_limit_burst', { rate_limit_burst: 0 }],
    ['rate_limit_daily', { rate_limit_daily: -1 }],
    ['max_in_flight', { max_in_flight: 0 }],
    ['max_in_flight', { max_in_flight: 257 }],
    ['max_in_flight', { max_in_flight: 1.5 }],
    ['max_deliverers', { max_deliverers: 0 }],
    ['max_deliverers', { max_deliverers: 17 }],
    ['rate_limit_daily', { rate_limit_daily: 1.5 }],
    ['revision_number', { revision_number: 0 }],
    ['revision_number', { revision_number: 2 }],
    ['revison_number', { revison_number: 1 }],
  ])('name the fault at %s, on creation and on change', async (field, fault) => {
    const { pipeline, template, path } = await newIntegration(story);
    const expected = [422, 'VALIDATION_ERROR', field];
    expect(await story.refusal('POST', `pipelines/${pipeline}/integrations`, { template_id: template.id, ...fault })).toEqual(expected);
    expect(await story.refusal('PUT', path, fault)).toEqual(expected);
    expect((await story.got(`pipelines/${pipeline}/integrations`)).total).toBe(1);
  });

  test('need a template of the own organisation', async () => {
    const pipeline = await newPipeline(story);
    const foreign = await story.made('integration-templates', { name: 'Theirs', vendor: 'webhook', config: { url: URL } }, story.stranger);
    const path = `pipelines/${pipeline}/integrations`;
    expect(await story.refusal('POST', path, {})).toEqual([400, 'MISSING_FIELD', 'template_id']);
    expect(await story.refusal('POST', path, { template_id: foreign.template.id })).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('POST', path, { template_id: 'tpl_nobody' })).toEqual([404, 'NOT_FOUND']);
    const { template, integration } = await newIntegration(story);
    expect(await story.refusal('POST', path, { template_id: template.id }, story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', `${path}/${integration.id}`), 'of another pipeline').toEqual([404, 'NOT_FOUND']);
  });

  test('move their pin forward and back, each pipeline its own', async () => {
    const { template, path } = await newIntegration(story);
    await story.made(`integration-templates/${template.id}/revisions`, { config: { url: `${URL}/2` }, delivery_mode: 'client_side' });
    const other = await newPipeline(story);
    const pinned = await story.made(`pipelines/${other}/integrations`, { template_id: template.id, revision_number: 1 });
    expect([pinned.revision_number, pinned.delivery_mode]).toEqual([1, 'server_side']);
    expect(await story.got(path), 'a new revision moves no pin').toMatchObject({ revision_number: 1, latest_revision_number: 2 });
    const entry = await story.audited(async () => {
      expect(await story.put(path, { revision_number: 2 })).toMatchObject({ revision_number: 2, delivery_mode: 'client_side' });
    });
    expect(entry).toMatchObject({ action: 'integration.updated', changes: { revision_number: { old: 1, new: 2 } } });
    expect(await story.put(path, { revision_number: 1 })).toMatchObject({ revision_number: 1, delivery_mode: 'server_side' });
    expect((await story.got(`integration-templates/${template.id}`)).used_by).toEqual([path.split('/')[1]!, other].sort());
  });

  test('PUT of what was read changes nothing; disabling and deleting are urgent', async () => {
    const { path } = await newIntegration(story);
    const read = await story.got(path);
    const entry = await story.audited(() => story.put(path, { ...read, vendor: 'other', template_id: 'tpl_other', health: {} }));
    expect(entry.changes).toEqual({});
    expect(await story.got(path)).toEqual({ ...read, updated_at: expect.any(String) });
    const urgent = async () => {
      const { version, urgent_version } = await readConfigVersion(story.harness.store.db);
      return version === urgent_version;
    };
    expect(await urgent()).toBe(false);
    await story.put(path, { enabled: false });
    expect(await urgent()).toBe(true);
    await story.put(path, { enabled: true });
    expect(await urgent()).toBe(false);
    expect((await story.call('DELETE', path)).status).toBe(204);
    expect(await urgent()).toBe(true);
  });

  test('are for viewers to read, editors to write, admins to delete', async () => {
    const { pipeline, template, path } = await newIntegration(story);
    const [viewer, editor, admin] = [await story.as('viewer'), await story.as('editor'), await story.as('admin')];
    expect((await viewer('GET', path)).status).toBe(200);
    for (const [method, at, body] of [
      ['POST', `pipelines/${pipeline}/integrations`, { template_id: template.id }],
      ['PUT', path, { enabled: false }],
    ] as const) {
      expect(await story.refusal(method, at, body, viewer)).toEqual([403, 'FORBIDDEN']);
      expect((await editor(method, at, body)).status).toBeLessThan(300);
    }
    expect(await story.refusal('DELETE', path, undefined, editor)).toEqual([403, 'FORBIDDEN']);
    const entry = await story.audited(() => admin('DELETE', path));
    expect(entry).toMatchObject({ action: 'integration.deleted', changes: { enabled: { old: false, new: null } } });
    expect(await story.refusal('GET', path)).toEqual([404, 'NOT_FOUND']);
    expect((await story.got(`pipelines/${pipeline}/integrations`)).total).toBe(1);
  });

  test('are listed in the order of their assignment, by pages', async () => {
    const [pipeline, template] = [await newPipeline(story), await newTemplate(story)];
    for (const name of ['a', 'b', 'c']) await story.made(`pipelines/${pipeline}/integrations`, { template_id: template.id, name });
    const page = await story.got(`pipelines/${pipeline}/integrations?limit=2&offset=1`);
    expect([page.integrations.map(({ name }) => name), page.total, page.limit, page.offset]).toEqual([['b', 'c'], 3, 2, 1]);
    expect((await story.got(`pipelines/${pipeline}/integrations?limit=101`)).limit).toBe(100);
    expect(await story.refusal('GET', `pipelines/${pipeline}/integrations?limit=ten`)).toEqual([422, 'VALIDATION_ERROR', 'limit']);
  });

  test('are failing with the reason while the event log cannot be reached, and while they cannot be started', async () => {
    const { integration, path } = await newIntegration(story);
    const { operations } = story.harness;
    expect((await story.got(path)).health).toMatchObject({ status: 'ok', last_error: null });
    const lag = vi.spyOn(operations.log, 'lag').mockRejectedValue(new LogUnavailable('away'));
    onTestFinished(() => lag.mockRestore());
    const away = { status: 'failing', last_error: expect.stringContaining('the event log cannot be reached') };
    expect((await story.got(path)).health).toMatchObject(away);
    lag.mockRestore();
    const cannotRun = vi.spyOn(operations, 'cannotRun').mockImplementation((id) => (id === integration.id ? 'no stream left' : undefined));
    onTestFinished(() => cannotRun.mockRestore());
    expect((await story.got(path)).health).toMatchObject({ status: 'failing', last_error: 'no stream left' });
  });

  test('show their health: the last failure, and a missing parameter', async () => {
    const { integration, pipeline, path } = await newIntegration(story, { url: 'https://{{pipeline_param.HOST}}/in' });
    const warned = await story.got(path);
    expect(warned.health.warnings.join()).toContain('HOST');
    await story.put(`pipelines/${pipeline}`, { parameters: { HOST: 'hooks.example' } });
    expect((await story.got(path)).health).toEqual(HEALTHY);
    const about = { org_id: story.org.org_id, pipeline_id: pipeline, event_id: 'h1', type: 'track' as const, event: 'Health' };
    const attempt = (status: number, error: string | null) => ({ at: new Date(0).toISOString(), status, error, duration_ms: 5 });
    const at = Date.parse('2026-05-01T00:00:00.000Z');
    await story.record({ kind: 'retrying', integration_id: integration.id, attempt: attempt(503, 'http_503'), due_at: at, ...about, at });
    expect((await story.got(path)).health).toEqual({ ...HEALTHY, status: 'failing', last_error: 'http_503' });
    await story.record({
      kind: 'delivered',
      integration_id: integration.id,
      attempt: attempt(200, null),
      received_at: at,
      duration_ms: 5,
      ...about,
      at: at + 1,
    });
    expect((await story.got(path)).health).toEqual({
      ...HEALTHY,
      last_success_at: '2026-05-01T00:00:00.001Z',
      last_error: 'http_503',
    });
    expect((await story.put(path, { enabled: false })).health.status, 'a disabled one rests').toBe('paused');
    await story.put(path, { enabled: true });
    await story.put(`pipelines/${pipeline}`, { parameters: { HOST: 'not a host' } });
    expect((await story.got(path)).health.status).toBe('misconfigured');
  });
});

onStory('the one-step integration', (story) => {
  const body = (source_id: string, more: object = {}) => ({
    source_id,
    vendor: 'webhook',
    name: 'Endpoint',
    enabled: true,
    config: { url: URL },
    ...more,
  });

  test('credentials alone start with the mappings of the default variant; a config that maps anything itself stays as sent', async () => {
    const pipeline = await newPipeline(story);
    const credentials = { pixel_id: '123456789', access_token: 'token-of-the-pixel' };
    const meta = (config: object) => story.made('integrations', body(pipeline, { vendor: 'meta_conversions_api', config }));
    const ready = await meta(credentials);
    const { default_config } = (await story.got('integration-catalog/meta_conversions_api')).variants.find(
      ({ key }: Loose) => key === 'default',
    )!;
    expect(ready.config).toEqual({ ...default_config, ...credentials, access_token: '••••ixel' });
    expect(await story.got(`integration-templates/${ready.template_id}`)).toMatchObject({
      catalog_vendor_key: 'meta_conversions_api',
      catalog_variant_key: 'default',
      latest_revision: { change_summary: 'Initial setup from catalog: Meta Conversions API (default)' },
    });
    for (const own of [{ events: {} }, { defaults: { action: 'drop' } }, { version: 2 }]) {
      const bare = await meta({ ...credentials, ...own });
      expect(bare.config).toEqual({ ...credentials, access_token: '••••ixel', ...own });
      expect(bare.health).toMatchObject({
        status: 'ok',
        warnings: [expect.stringMatching(/^No event is mapped/), expect.stringMatching(/^No consent category is set/)],
      });
    }
    expect((await story.made('integrations', body(pipeline))).config, 'a webhook takes every event as it is').toEqual({ url: URL });
  });

  test('makes template, revision and assignment together, and shows the config masked', async () => {
    const pipeline = await newPipeline(story);
    const config = { url: URL, authentication: 'bearer', auth_token: TOKEN };
    const more = { config, event_filter: { event_names: ['A'] }, consent_category: 'analytics', rate_limit_rps: 5 };
    let answer!: Loose;
    const entry = await story.audited(async () => {
      answer = await story.made('integrations', body(pipeline, more));
    });
    expect(answer).toMatchObject({ ...more, source_id: pipeline, pipeline_id: pipeline, config: { ...config, auth_token: '••••iver' } });
    expect(entry).toMatchObject({ action: 'integration.created', resource_id: answer.id });
    expect(JSON.stringify(entry)).not.toContain(TOKEN);
    expect((await story.got(`integration-templates/${answer.template_id}`)).latest_revision).toMatchObject({
      revision_number: 1,
      config: { auth_token: '••••iver' },
      created_by: story.org.owner.id,
    });
    const { config: _config, source_id: _source, ...integration } = answer;
    expect(await story.got(`pipelines/${pipeline}/integrations/${answer.id}`)).toEqual(integration);
  });

  test('an entry of the list of all integrations can be sent back', async () => {
    const { path, integration } = await newIntegration(story);
    const [listed] = (await story.got(`integrations?ids=${integration.id}`)).integrations;
    expect(listed).toHaveProperty('pipeline_name');
    expect((await story.call('PUT', path, listed)).status).toBe(200);
  });

  test('the answer of the one-step integration can be sent back; another config is refused and says to add a revision', async () => {
    const pipeline = await newPipeline(story);
    const config = { url: URL, authentication: 'bearer', auth_token: TOKEN };
    const answer = await story.made('integrations', body(pipeline, { config }));
    const path = `pipelines/${pipeline}/integrations/${answer.id}`;
    const { config: _config, source_id: _source, ...read } = answer;
    expect(await story.put(path, answer)).toEqual({ ...read, updated_at: expect.any(String) });
    expect(await story.put(path, { ...answer, name: 'Renamed' })).toMatchObject({ name: 'Renamed', revision_number: 1 });
    const refused = await story.call('PUT', path, { ...answer, config: { ...answer.config, url: `${URL}/2` } });
    expect([refused.status, refused.body.error.message]).toEqual([422, expect.stringContaining('add a revision')]);
    expect(await story.refusal('PUT', path, { config: {} })).toEqual([422, 'VALIDATION_ERROR', 'config']);
    expect(await story.refusal('PUT', path, { config: { ...config } }), 'the secret itself is not compared').toEqual([
      422,
      'VALIDATION_ERROR',
      'config',
    ]);
    const second = await story.made(`integration-templates/${answer.template_id}/revisions`, { config: { url: `${URL}/2` } });
    expect(await story.refusal('PUT', path, { config: second.config })).toEqual([422, 'VALIDATION_ERROR', 'config']);
    expect(await story.put(path, { config: second.config, revision_number: 2 })).toMatchObject({ revision_number: 2 });
    expect(await story.put(path, answer), 'the pin moves back with it').toMatchObject({ revision_number: 1 });
  });

  test('POST /integrations refused its own answer for latest_revision_number', async () => {
    const answer = await story.made('integrations', body(await newPipeline(story)));
    const copy = await story.made('integrations', answer);
    expect(copy).toMatchObject({ name: answer.name, config: answer.config, revision_number: 1, latest_revision_number: 1 });
    expect(copy.id).not.toBe(answer.id);
    expect(copy.template_id).not.toBe(answer.template_id);
  });

  test.each([
    ['source_id', { source_id: undefined }, 400],
    ['vendor', { vendor: undefined }, 400],
    ['name', { name: undefined }, 400],
    ['config', { config: undefined }, 400],
    ['vendor', { vendor: 'nobody' }, 422],
    ['config.url', { config: {} }, 422],
    ['config.url', { config: { url: 'ftp://x' } }, 422],
    ['config.auth_token', { config: { url: URL, authentication: 'bearer' } }, 422],
    ['config.auth_token', { config: { url: URL, authentication: 'bearer', auth_token: '••••' } }, 422],
    ['event_filter.event_names', { event_filter: { event_names: 5 } }, 422],
    [
      'delivery_mode',
      { delivery_mode: 'client_side', config: { url: URL, hmac_secret: 'x', hmac_header: 'X-S', authentication: 'hmac' } },
      422,
    ],
    ['sourceid', { sourceid: 'x' }, 422],
  ])('names the fault at %s and leaves nothing behind (%j)', async (field, fault, status) => {
    const pipeline = await newPipeline(story);
    const count = async () => (await story.got('integration-templates')).total + (await story.got('audit-logs')).total;
    const before = await count();
    const sent = JSON.parse(JSON.stringify({ ...body(pipeline), ...fault }));
    expect(await story.refusal('POST', 'integrations', sent)).toEqual([
      status,
      status === 400 ? 'MISSING_FIELD' : 'VALIDATION_ERROR',
      field,
    ]);
    expect(await count()).toBe(before);
  });

  test('does not find a pipeline of another organisation, and creates no template for it', async () => {
    const pipeline = await newPipeline(story);
    expect(await story.refusal('POST', 'integrations', body(pipeline), story.stranger)).toEqual([404, 'NOT_FOUND']);
    expect((await story.stranger('GET', 'integration-templates')).body.total).toBe(0);
  });

  test('runs in the browser where vendor and config allow it', async () => {
    const answer = await story.made('integrations', body(await newPipeline(story), { delivery_mode: 'client_side' }));
    expect(answer.delivery_mode).toBe('client_side');
  });
});

onStory('trying out', (story) => {
  const event = { type: 'track', event: 'Order Completed', properties: { total: 42 } };

  test('preview runs the real engine, masks secrets and leaves no entry', async () => {
    const before = (await story.got('audit-logs')).total;
    const config = { url: 'https://{{pipeline_param.HOST}}/in', authentication: 'bearer', auth_token: TOKEN };
    const sent = { vendor: 'webhook', config, event, parameters: { HOST: 'hooks.example' } };
    const { status, body } = await story.call('POST', 'mapping/preview', sent);
    expect([status, body.dropped, body.warnings]).toEqual([200, null, []]);
    expect((await story.got('audit-logs')).total).toBe(before);
    expect(body.requests[0]).toMatchObject({ method: 'POST', url: 'https://hooks.example/in', body: { event: 'Order Completed' } });
    expect(JSON.stringify(body)).not.toContain(TOKEN);
    expect(JSON.stringify(body)).toContain('Bearer ••••iver');
    const dropped = await story.call('POST', 'mapping/preview', { ...sent, config: { ...config, defaults: { action: 'drop' } } });
    expect(dropped.body).toMatchObject({ requests: [], dropped: { reason: 'mapping_default' } });
    expect(await story.refusal('POST', 'mapping/preview', { ...sent, config: {} })).toEqual([422, 'VALIDATION_ERROR', 'config.url']);
    // 4,000 × 10,000 characters: the process ran out of memory with longer ones, which are refused by themselves.
    const repeated = { ...config, headers: { A: '{{pipeline_param.A}}'.repeat(4_000) } };
    for (const length of [10_000, 700_000])
      expect(
        (await story.refusal('POST', 'mapping/preview', { ...sent, config: repeated, parameters: { A: 'x'.repeat(length) } }))[0],
      ).toBe(422);
    expect(await story.refusal('POST', 'mapping/preview', { ...sent, vendor: 'nobody' })).toEqual([422, 'VALIDATION_ERROR', 'vendor']);
    expect(await story.refusal('POST', 'mapping/preview', { vendor: 'webhook', config })).toEqual([400, 'MISSING_FIELD', 'event']);
    expect(await story.refusal('POST', 'mapping/preview', { ...sent, event: { type: 'tv' } })).toEqual([
      422,
      'VALIDATION_ERROR',
      'event.type',
    ]);
    expect(await story.refusal('POST', 'mapping/preview', sent, await story.as('viewer'))).toEqual([403, 'FORBIDDEN']);
  });

  test('a test delivery really sends one event and returns the result', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString())).on('end', () => response.writeHead(418).end('short and stout'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
    const { path } = await newIntegration(story, { url });
    const { status, body } = await story.call('POST', `${path}/test`, { event });
    expect([status, body.status, body.response_excerpt]).toEqual([200, 418, 'short and stout']);
    expect(body.duration_ms).toBeGreaterThanOrEqual(0);
    expect(seen.map((text) => JSON.parse(text).event)).toEqual(['Order Completed']);
    expect(await story.refusal('POST', `${path}/test`, {})).toEqual([400, 'MISSING_FIELD', 'event']);
    // A vendor drops an id that it has seen: an event without one gets a new one each time.
    for (const id of [undefined, undefined, 'mine'])
      await story.call('POST', `${path}/test`, { event: { type: 'track', event: 'Again', ...(id === undefined ? {} : { event_id: id }) } });
    const ids = seen.slice(1).map((text) => JSON.parse(text).event_id as string);
    expect(ids[2]).toBe('mine');
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(3);
    expect(await story.refusal('POST', `${path}/test`, { event, test_mode: true })).toEqual([422, 'VALIDATION_ERROR', 'test_mode']);
    await new Promise((resolve) => server.close(resolve));
    const refused = await story.call('POST', `${path}/test`, { event });
    expect([refused.status, refused.body.status]).toEqual([200, null]);
  });

  test('a config is tested before it is installed: one event is really sent, nothing is stored', async () => {
    const seen: { authorization: string | undefined; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ authorization: request.headers.authorization, body });
        response.writeHead(401).end(`who is ${request.headers.authorization}?`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
    const path = 'integration-catalog/webhook/test';
    const { total } = await story.got('integration-templates');
    const config = { url, authentication: 'bearer', auth_token: TOKEN };
    const { status, body } = await story.call('POST', path, { config, event });
    expect([status, body.status]).toEqual([200, 401]);
    expect(body.response_excerpt, 'a secret that the vendor echoes is masked').not.toContain(TOKEN);
    const pipeline = await story.made('pipelines', { name: 'Parameters', parameters: { HOOK: url } });
    const byParameter = { config: { url: '{{pipeline_param.HOOK}}' } };
    await story.call('POST', path, { ...byParameter, pipeline_id: pipeline.id, event });
    expect(seen.map(({ authorization, body: text }) => [authorization, JSON.parse(text).event])).toEqual([
      [`Bearer ${TOKEN}`, 'Order Completed'],
      [undefined, 'Order Completed'],
    ]);
    expect((await story.got('integration-templates')).total).toBe(total);
    const audit = await story.got('audit-logs?action=vendor.tested');
    expect(audit.audit_logs.map(({ resource_id, changes }) => [resource_id, changes.pipeline_id?.new])).toEqual([
      ['webhook', pipeline.id],
      ['webhook', undefined],
    ]);
    expect(JSON.stringify(audit), 'neither secrets nor the config').not.toContain(TOKEN.slice(0, 8));
    const refusal = (change: object, at = path) => story.refusal('POST', at, { config, event, ...change });
    expect(await refusal({ config: {} })).toEqual([422, 'VALIDATION_ERROR', 'config.url']);
    expect(await refusal(byParameter)).toEqual([422, 'VALIDATION_ERROR', 'pipeline_id']);
    expect(await refusal({ variant: 'nobody' })).toEqual([422, 'VALIDATION_ERROR', 'variant']);
    expect(await refusal({ test_mode: true })).toEqual([422, 'VALIDATION_ERROR', 'test_mode']);
    expect(await refusal({ pipeline_id: 'pl_nobody' })).toEqual([404, 'NOT_FOUND']);
    expect(await refusal({}, 'integration-catalog/nobody/test')).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('POST', path, { config, event }, await story.as('viewer'))).toEqual([403, 'FORBIDDEN']);
    expect(seen).toHaveLength(2);
    await new Promise((resolve) => server.close(resolve));
  });

  test('history is not replayed to a disabled integration, which would drop it; a dry run may count it', async () => {
    const { path } = await newIntegration(story, { url: URL }, { enabled: false });
    const range = { from: '2026-01-01', to: '2026-01-02' };
    expect(await story.refusal('POST', `${path}/replay`, range)).toEqual([409, 'CONFLICT']);
    expect(await story.call('POST', `${path}/replay`, { ...range, dry_run: true })).toMatchObject({ status: 202, body: { replayed: 0 } });
    await story.put(path, { enabled: true });
    expect(await story.call('POST', `${path}/replay`, range)).toMatchObject({ status: 202, body: { replayed: 0 } });
  });

  test('history is not replayed to a client-side integration, to which the server sends nothing', async () => {
    const { path, template } = await newIntegration(story);
    await story.made(`integration-templates/${template.id}/revisions`, { config: { url: URL }, delivery_mode: 'client_side' });
    await story.put(path, { revision_number: 2 });
    const range = { from: '2026-01-01', to: '2026-01-02' };
    expect(await story.refusal('POST', `${path}/replay`, range)).toEqual([409, 'CONFLICT']);
    expect(await story.call('POST', `${path}/replay`, { ...range, dry_run: true })).toMatchObject({ status: 202, body: { replayed: 0 } });
  });

  test('a diff compares revisions of the own template over the own pipeline', async () => {
    const { template, pipeline } = await newIntegration(story);
    await story.made(`integration-templates/${template.id}/revisions`, { config: { url: `${URL}/2` } });
    const path = `integration-templates/${template.id}/revisions/diff`;
    const { status, body } = await story.call('POST', path, { from: 1, to: 2, pipeline_id: pipeline });
    expect([status, body]).toEqual([200, { compared: 0, changed: 0, dropped_by_to: 0, examples: [] }]);
    expect(await story.refusal('POST', path, { from: 1, to: 2 })).toEqual([400, 'MISSING_FIELD', 'pipeline_id']);
    expect(await story.refusal('POST', path, { from: 1, to: 3, pipeline_id: pipeline })).toEqual([422, 'VALIDATION_ERROR', 'to']);
    expect(await story.refusal('POST', path, { from: 1, to: 2, pipeline_id: 'pl_nobody' })).toEqual([404, 'NOT_FOUND']);
  });
});
