import { expect, test } from 'vitest';
import { createCipher } from '../../../secrets/cipher.ts';
import { loadConfig } from '../../../stores/config/load-config.ts';
import { readConfigVersion } from '../../../stores/config/version.ts';
import { SECRET_KEY } from '../testing/harness.ts';
import { onStory, type Story } from '../testing/story.ts';

let made = 0;
const newPipeline = async (story: Story): Promise<string> => (await story.made('pipelines', { name: `Pipeline ${++made}` })).id;
const SECRET = 'whsec_a-secret-the-provider-gave-us';

onStory('webhook sources', (story) => {
  const storedSecret = async (id: string) => {
    const { webhook_sources } = await loadConfig(story.harness.store.db, createCipher(SECRET_KEY), new Map());
    return webhook_sources.find((source) => source.id === id)?.row?.signing_secret;
  };
  const newSource = async (more: object = {}) =>
    await story.made('webhook-sources', {
      pipeline_id: await newPipeline(story),
      name: 'Source',
      source_type: 'payment_processor',
      ...more,
    });

  test.each([
    ['payment_processor', 'stripe'],
    ['ecommerce_platform', 'shopify'],
    ['crm', 'hubspot'],
    ['form_service', 'typeform'],
    ['messaging_service', 'intercom'],
    ['custom', 'custom'],
  ])('%s means %s unless another provider is named', async (source_type, provider) => {
    const pipeline_id = await newPipeline(story);
    const source = await story.made('webhook-sources', { pipeline_id, name: 'Kind', source_type });
    expect(source).toEqual({
      id: expect.stringMatching(/^whs_/),
      org_id: story.org.org_id,
      pipeline_id,
      name: 'Kind',
      source_type,
      provider,
      enabled: true,
      event_type_path: null,
      mappings: {},
      event_name_map: {},
      timestamp_path: null,
      timestamp_format: null,
      signature_header: null,
      signature_method: null,
      default_consent: null,
      kind: 'webhook',
      connection: null,
      url: `http://localhost:80/v1/webhook?source=${source.id}`,
      signing_secret: expect.stringMatching(/^whsec_/),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await newSource({ source_type, provider: 'custom' })).provider).toBe('custom');
    expect((await newSource({ source_type, provider: 'stripe' })).provider).toBe('stripe');
  });

  test('return their secret on creation and rotation only', async () => {
    const source = await newSource({ signing_secret: SECRET });
    expect(source.signing_secret).toBe(SECRET);
    expect(await storedSecret(source.id)).toBe(SECRET);
    const path = `webhook-sources/${source.id}`;
    const { signing_secret: _secret, ...shown } = source;
    expect(await story.got(path)).toEqual(shown);
    expect(await story.put(path, { name: 'Renamed' })).toEqual({ ...shown, name: 'Renamed', updated_at: expect.any(String) });
    const late = await story.call('PUT', path, { name: 'Late' }, { 'if-match': '2020-01-01T00:00:00.000Z' });
    expect([late.status, (await story.got(path)).name]).toEqual([409, 'Renamed']);
    const entry = await story.audited(async () => {
      const rotated = await story.call('POST', `${path}/rotate-secret`);
      expect([rotated.status, Object.keys(rotated.body).includes('signing_secret')]).toEqual([200, true]);
      expect(rotated.body.signing_secret).not.toBe(SECRET);
      expect(await storedSecret(source.id)).toBe(rotated.body.signing_secret);
    });
    expect(entry).toMatchObject({ action: 'webhook_source.secret_rotated', resource_id: source.id });
    const everywhere = JSON.stringify([await story.got('webhook-sources'), await story.got('audit-logs?limit=100')]);
    expect([everywhere.includes(SECRET), everywhere.includes((await storedSecret(source.id))!)]).toEqual([false, false]);
    const rows = await story.harness.store.db.selectFrom('webhook_sources').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  test('tell when their last event was received; a replay of an old one changes nothing', async () => {
    const source = await newSource({});
    const other = await newSource({});
    const path = `webhook-sources/${source.id}/status`;
    expect((await story.got(path)).last_received_at).toBeNull();
    const at = Date.parse('2026-05-01T12:00:00.000Z');
    const about = { at, org_id: story.org.org_id, pipeline_id: String(source.pipeline_id), type: 'track' as const, event: 'Paid' };
    const from = { ...about, webhook_source_id: source.id, decisions: [] };
    await story.record({ kind: 'processed', ...from, event_id: 'one', received_at: at });
    await story.record({ kind: 'dropped', reason: 'bot', ...from, event_id: 'two', received_at: at + 5_000 });
    await story.record({ kind: 'processed', ...from, event_id: 'one', received_at: at, again: true });
    await story.record({ kind: 'processed', ...about, decisions: [], event_id: 'three', received_at: at + 9_000 });
    expect((await story.got(path)).last_received_at).toBe('2026-05-01T12:00:05.000Z');
    expect((await story.got(`webhook-sources/${other.id}/status`)).last_received_at).toBeNull();
    expect((await story.stranger('GET', path)).status).toBe(404);
  });

  test('take a new secret by PUT, keep the old one where a mask is written back', async () => {
    const { id } = await newSource({ signing_secret: SECRET });
    const path = `webhook-sources/${id}`;
    await story.put(path, { signing_secret: '••••n-us' });
    expect(await storedSecret(id)).toBe(SECRET);
    const entry = await story.audited(() => story.put(path, { signing_secret: 'the-next-secret-of-theirs' }));
    expect(await storedSecret(id)).toBe('the-next-secret-of-theirs');
    expect(JSON.stringify(entry)).not.toContain('the-next-secret');
    expect(Object.keys(entry.changes)).toEqual(['signing_secret']);
  });

  test('custom ones take mappings, paths and a signature, and each can be changed', async () => {
    const fields = {
      source_type: 'custom',
      event_type_path: '$.type',
      mappings: { userId: '$.user.id', 'properties.total': '$.items[*].price', 'properties.kind': "'static'" },
      event_name_map: { 'order.paid': 'Order Completed' },
      timestamp_path: '$.created',
      timestamp_format: 'unix_seconds',
      signature_header: 'X-Signature',
      signature_method: 'hmac_sha256',
    };
    const source = await newSource(fields);
    expect(source).toMatchObject(fields);
    const path = `webhook-sources/${source.id}`;
    const changed = await story.put(path, {
      ...(await story.got(path)),
      event_type_path: null,
      mappings: { event: "'Paid'" },
      enabled: false,
    });
    expect(changed).toMatchObject({ event_type_path: null, mappings: { event: "'Paid'" }, event_name_map: fields.event_name_map });
    expect(changed.mappings, 'replaced whole').toEqual({ event: "'Paid'" });
    const { version, urgent_version } = await readConfigVersion(story.harness.store.db);
    expect(version, 'disabling is urgent').toBe(urgent_version);
    const moved = await newPipeline(story);
    expect((await story.put(path, { pipeline_id: moved })).pipeline_id).toBe(moved);
    expect(await story.put(path, { source_type: 'crm' })).toMatchObject({ source_type: 'crm', provider: 'hubspot' });
  });

  test.each([
    ['pipeline_id', { pipeline_id: undefined }, 400],
    ['name', { name: undefined }, 400],
    ['source_type', { source_type: undefined }, 400],
    ['source_type', { source_type: 'pigeon' }, 422],
    ['provider', { provider: 'pigeon' }, 422],
    ['timestamp_format', { timestamp_format: 'stardate' }, 422],
    ['signature_method', { signature_method: 'md5' }, 422],
    ['signature_header', { source_type: 'custom', signature_method: 'hmac_sha256' }, 422],
    ['signature_header', { signature_header: 'no header' }, 422],
    ['mappings.userId', { mappings: { userId: 5 } }, 422],
    ['mappings.userId', { mappings: { userId: 'user id' } }, 422],
    ['event_type_path', { event_type_path: 'headers.x-type' }, 422],
    ['default_consent.marketing', { default_consent: { marketing: 'yes' } }, 422],
    ['signing_secret', { signing_secret: '' }, 422],
    ['signing_secret', { signing_secret: '••••abcd' }, 422],
    ['event_map', { event_map: {} }, 422],
  ])('name the fault at %s (%j)', async (field, fault, status) => {
    const whole = { pipeline_id: await newPipeline(story), name: 'Faulty', source_type: 'payment_processor', ...fault };
    const body = JSON.parse(JSON.stringify(whole));
    const total = (await story.got('webhook-sources')).total;
    expect(await story.refusal('POST', 'webhook-sources', body)).toEqual([
      status,
      status === 400 ? 'MISSING_FIELD' : 'VALIDATION_ERROR',
      field,
    ]);
    expect((await story.got('webhook-sources')).total).toBe(total);
  });

  test('need a pipeline of the own organisation, and go with it', async () => {
    const foreign = (await story.made('pipelines', { name: 'Theirs' }, story.stranger)).id;
    const body = { pipeline_id: foreign, name: 'X', source_type: 'crm' };
    expect(await story.refusal('POST', 'webhook-sources', body)).toEqual([404, 'NOT_FOUND']);
    const { id, pipeline_id } = await newSource();
    expect(await story.refusal('PUT', `webhook-sources/${id}`, { pipeline_id: foreign })).toEqual([404, 'NOT_FOUND']);
    expect(await story.refusal('GET', `webhook-sources/${id}`, undefined, story.stranger)).toEqual([404, 'NOT_FOUND']);
    await story.call('DELETE', `pipelines/${pipeline_id}`);
    expect(await story.refusal('GET', `webhook-sources/${id}`)).toEqual([404, 'NOT_FOUND']);
  });

  test('are listed newest first, by pipeline and by pages', async () => {
    const pipeline_id = await newPipeline(story);
    for (const name of ['a', 'b', 'c']) await newSource({ pipeline_id, name });
    const page = await story.got(`webhook-sources?pipeline_id=${pipeline_id}&limit=2`);
    expect([page.webhook_sources.map(({ name }) => name), page.total, page.limit, page.offset]).toEqual([['c', 'b'], 3, 2, 0]);
    expect((await story.got('webhook-sources?pipeline_id=pl_nobody')).webhook_sources).toEqual([]);
    expect((await story.got('webhook-sources?limit=100000')).limit).toBe(100);
    expect(await story.refusal('GET', 'webhook-sources?offset=-2')).toEqual([422, 'VALIDATION_ERROR', 'offset']);
  });

  test('a new signing secret is for admins, as a rotation is; editors change the rest and may send the mask back', async () => {
    const [editor, admin] = [await story.as('editor'), await story.as('admin')];
    const body = { pipeline_id: await newPipeline(story), name: 'Secret', source_type: 'crm', signing_secret: 'whsec_first-secret' };
    const { id } = await story.made('webhook-sources', body, editor);
    const path = `webhook-sources/${id}`;
    expect(await story.refusal('PUT', path, { signing_secret: 'whsec_another-secret' }, editor)).toEqual([403, 'FORBIDDEN']);
    const renamed = await editor('PUT', path, { name: 'Renamed', signing_secret: '••••cret' });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Renamed']);
    expect(await storedSecret(String(id))).toBe('whsec_first-secret');
    expect((await admin('PUT', path, { signing_secret: 'whsec_another-secret' })).status).toBe(200);
    expect(await storedSecret(String(id))).toBe('whsec_another-secret');
    await story.call('DELETE', path);
  });

  test('are for editors to write, for admins to rotate and delete', async () => {
    const [viewer, editor, admin] = [await story.as('viewer'), await story.as('editor'), await story.as('admin')];
    const body = { pipeline_id: await newPipeline(story), name: 'Roles', source_type: 'crm' };
    expect(await story.refusal('POST', 'webhook-sources', body, viewer)).toEqual([403, 'FORBIDDEN']);
    const { id } = await story.made('webhook-sources', body, editor);
    expect((await viewer('GET', `webhook-sources/${id}`)).status).toBe(200);
    expect(await story.refusal('POST', `webhook-sources/${id}/rotate-secret`, undefined, editor)).toEqual([403, 'FORBIDDEN']);
    expect(await story.refusal('DELETE', `webhook-sources/${id}`, undefined, editor)).toEqual([403, 'FORBIDDEN']);
    expect((await admin('POST', `webhook-sources/${id}/rotate-secret`)).status).toBe(200);
    const entry = await story.audited(async () => expect((await admin('DELETE', `webhook-sources/${id}`)).status).toBe(204));
    expect(entry).toMatchObject({ action: 'webhook_source.deleted', changes: { name: { old: 'Roles', new: null } } });
    expect(await story.refusal('GET', `webhook-sources/${id}`)).toEqual([404, 'NOT_FOUND']);
  });
});

onStory(
  'webhook sources behind a public address',
  (story) => {
    test('show the address that the provider must call', async () => {
      const pipeline_id = await newPipeline(story);
      const { id, url } = await story.made('webhook-sources', { pipeline_id, name: 'Public', source_type: 'crm' });
      expect(url).toBe(`https://in.example/v1/webhook?source=${id}`);
    });
  },
  { ingestUrl: 'https://in.example' },
);

onStory('sources that read from a broker', (story) => {
  const kafka = { kind: 'kafka', source_type: 'custom', connection: { brokers: 'kafka.example.com:9093', topic: 'orders' } };
  const newSource = async (more: object) =>
    await story.made('webhook-sources', { pipeline_id: await newPipeline(story), name: 'Orders', ...more });

  test('have a kind and a connection, and no URL', async () => {
    const source = await newSource(kafka);
    expect(source).toMatchObject({ kind: 'kafka', connection: kafka.connection, url: '' });
    expect(await story.got(`webhook-sources/${source.id}`)).toMatchObject({ kind: 'kafka', connection: kafka.connection });
    expect(await story.got(`webhook-sources/${source.id}/status`)).toEqual({
      state: 'stopped',
      lag: null,
      last_error: null,
      last_message_at: null,
      last_received_at: null,
    });
  });

  test('a webhook source listens', async () => {
    const source = await newSource({ source_type: 'custom' });
    expect(source).toMatchObject({ kind: 'webhook', connection: null });
    expect(await story.got(`webhook-sources/${source.id}/status`)).toMatchObject({ state: 'listening' });
  });

  test.each([
    [{ ...kafka, connection: null }, 'connection'],
    [{ ...kafka, connection: { topic: 'orders' } }, 'connection.brokers'],
    [{ ...kafka, connection: { ...kafka.connection, topic: 'two words' } }, 'connection.topic'],
    [{ ...kafka, connection: { ...kafka.connection, typo: 'x' } }, 'connection.typo'],
    [{ ...kafka, connection: { ...kafka.connection, sasl_mechanism: 'PLAIN', username: 'u' } }, 'signing_secret'],
    [{ source_type: 'custom', connection: { brokers: 'x:1' } }, 'connection'],
    [
      {
        kind: 'sqs',
        source_type: 'custom',
        signing_secret: 's',
        connection: { queue_url: 'x', region: 'eu-central-1', access_key_id: 'AKIA' },
      },
      'connection.queue_url',
    ],
    [{ kind: 'nats', source_type: 'custom', connection: { url: 'http://x', stream: 'S' } }, 'connection.url'],
    [{ kind: 'nats', source_type: 'custom', connection: { url: 'nats://a.example,nats://u:pw@b.example', stream: 'S' } }, 'connection.url'],
  ])('%j is refused at %s', async (body, field) => {
    const pipeline_id = await newPipeline(story);
    expect(await story.refusal('POST', 'webhook-sources', { pipeline_id, name: 'X', ...body })).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  test('an organisation has at most 100 of them, and any number of webhook sources', async () => {
    const { id: pipeline_id } = await story.made('pipelines', { name: 'Full' }, story.stranger);
    const body = { pipeline_id, name: 'Orders', enabled: false };
    const first = await story.made('webhook-sources', { ...body, ...kafka }, story.stranger);
    const { db } = story.harness.store;
    const row = await db.selectFrom('webhook_sources').selectAll().where('id', '=', first.id).executeTakeFirstOrThrow();
    const more = Array.from({ length: 99 }, (_, i) => ({ ...row, id: `${row.id.slice(0, -2)}${String(i).padStart(2, '0')}x` }));
    await db.insertInto('webhook_sources').values(more).execute();
    expect((await story.stranger('POST', 'webhook-sources', { ...body, ...kafka })).status).toBe(409);
    const { id } = await story.made('webhook-sources', { ...body, source_type: 'custom' }, story.stranger);
    expect((await story.stranger('PUT', `webhook-sources/${id}`, kafka)).status).toBe(409);
  });

  test('the secret comes from the broker: it is set with PUT, and never generated', async () => {
    const source = await newSource({
      ...kafka,
      connection: { ...kafka.connection, sasl_mechanism: 'PLAIN', username: 'u' },
      signing_secret: 'first',
    });
    expect(await story.refusal('POST', `webhook-sources/${source.id}/rotate-secret`)).toEqual([409, 'CONFLICT']);
    expect(await story.put(`webhook-sources/${source.id}`, { signing_secret: 'second' })).toMatchObject({ kind: 'kafka' });
  });
});
