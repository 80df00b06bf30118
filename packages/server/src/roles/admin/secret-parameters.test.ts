import { loadVendor } from '@firsthand/catalog/index.ts';
import { integration } from '@firsthand/core/config/integration.ts';
import { scrubber } from '@firsthand/core/vendor/secrets.ts';
import { expect, test } from 'vitest';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../event-record.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { compileIntegration } from '../../snapshot/compile-integration.ts';
import { loadConfig } from '../../stores/config/load-config.ts';
import { organisationKey } from '../../stores/config/organisations.ts';
import { maskAuditedParameters, sealStoredParameters } from '../../stores/config/pipeline-parameters.ts';
import { SECRET_KEY } from './testing/harness.ts';
import { onStory, type Story } from './testing/story.ts';

const VALUE = 'parameter-nobody-may-read';
const OTHER = 'another-value-nobody-may-read';
const cipher = createCipher(SECRET_KEY);
const loaded = async (story: Story, id: string) =>
  (await loadConfig(story.harness.store.db, cipher, new Map())).pipelines.find((each) => each.id === id)?.row?.parameters;
const newPipeline = async (story: Story, parameters: object = { VENDOR_TOKEN: VALUE, SHOP: 'vienna' }) =>
  (await story.made('pipelines', { name: 'Parameters', parameters })).id;

const compile = (delivery_mode: 'server_side' | 'client_side', config: { url: string }) =>
  compileIntegration(
    { ...integration.sample({ vendor: 'webhook', delivery_mode }), config },
    { parameters: { VENDOR_TOKEN: VALUE, SHOP: 'vienna', KEY: VALUE }, sealed: ['KEY'] },
    { mode: 'development', allowPrivateDestinations: true, natsUrl: undefined },
    () => undefined,
  );

test('an integration uses secret parameters anywhere in its config and masks them in what it shows', async () => {
  await loadVendor('webhook');
  const { vendor, secrets, config } = await compile('server_side', {
    url: 'https://{{pipeline_param.SHOP}}.example/{{pipeline_param.VENDOR_TOKEN}}',
  });
  expect([vendor === undefined, config]).toEqual([false, { url: `https://vienna.example/${VALUE}` }]);
  expect(scrubber(secrets)(`sent to https://vienna.example/${VALUE}`)).toBe('sent to https://vienna.example/••••read');
});

test('a client-side integration gets no secret parameter, because its config is public', async () => {
  const { vendor, faults, config } = await compile('client_side', { url: 'https://x.example/{{pipeline_param.VENDOR_TOKEN}}' });
  expect(vendor).toBe(undefined);
  expect(faults).toEqual([{ field: 'config', message: 'The parameter VENDOR_TOKEN is secret, and a client-side config is public.' }]);
  expect(JSON.stringify(config)).not.toContain(VALUE);
  const sealed = await compile('client_side', { url: 'https://x.example/{{pipeline_param.KEY}}' });
  expect([sealed.vendor, JSON.stringify(sealed.config)], 'sealed under an earlier rule').toEqual([
    undefined,
    expect.not.stringContaining(VALUE),
  ]);
  expect((await compile('client_side', { url: 'https://{{pipeline_param.SHOP}}.example/' })).config).toEqual({
    url: 'https://vienna.example/',
  });
});

onStory('secret parameters of a pipeline', (story) => {
  test.each([
    ['VENDOR_TOKEN', '••••read'],
    ['api-key', '••••read'],
    ['clientSecret', '••••read'],
    ['db.password', '••••read'],
    ['Authorization', '••••read'],
    ['DB_PWD', '••••read'],
    ['SHOP', VALUE],
    ['KEY', VALUE],
    ['MONKEY', VALUE],
    ['META_PIXEL', VALUE],
  ])('%s reads back as %s and reaches the snapshot whole', async (name, shown) => {
    const { id, parameters } = await story.made('pipelines', { name: 'Names', parameters: { [name]: VALUE } });
    expect(parameters).toEqual({ [name]: shown });
    expect((await story.got(`pipelines/${id}`)).parameters).toEqual({ [name]: shown });
    expect(await loaded(story, id)).toEqual({ [name]: VALUE });
  });

  test('a mask that is sent back keeps the value; a new value replaces it; a foreign mask is refused', async () => {
    const id = await newPipeline(story);
    const masked = (await story.got(`pipelines/${id}`)).parameters!;
    await story.put(`pipelines/${id}`, { parameters: { ...masked, SHOP: 'graz' } });
    expect(await loaded(story, id)).toEqual({ VENDOR_TOKEN: VALUE, SHOP: 'graz' });
    await story.put(`pipelines/${id}`, { name: 'Renamed' });
    expect(await loaded(story, id)).toEqual({ VENDOR_TOKEN: VALUE, SHOP: 'graz' });
    await story.put(`pipelines/${id}`, { parameters: { VENDOR_TOKEN: OTHER } });
    expect(await loaded(story, id)).toEqual({ VENDOR_TOKEN: OTHER });
    const refused = [422, 'VALIDATION_ERROR', 'parameters.VENDOR_TOKEN'];
    expect(await story.refusal('PUT', `pipelines/${id}`, { parameters: { VENDOR_TOKEN: '••••else' } })).toEqual(refused);
    expect(await story.refusal('POST', 'pipelines', { name: 'Mask', parameters: { VENDOR_TOKEN: '••••read' } })).toEqual(refused);
  });

  test('the audit log shows masks, and a change also where both masks are the same', async () => {
    const id = await newPipeline(story, { VENDOR_TOKEN: 'short-1' });
    const entry = await story.audited(() => story.put(`pipelines/${id}`, { parameters: { VENDOR_TOKEN: 'short-2' } }));
    expect(entry.changes).toEqual({ parameters: { old: { VENDOR_TOKEN: '••••' }, new: { VENDOR_TOKEN: '••••' } } });
    const kept = await story.audited(() => story.put(`pipelines/${id}`, { parameters: { VENDOR_TOKEN: '••••' } }));
    expect(kept.changes).toEqual({});
  });

  test('entries of earlier versions are masked for the reader', () => {
    const parameters = { old: null, new: { VENDOR_TOKEN: VALUE, SHOP: 'vienna', API_KEY: '••••read', EMPTY_KEY: '' } };
    expect(maskAuditedParameters({ name: { old: 'a', new: 'b' }, parameters })).toEqual({
      name: { old: 'a', new: 'b' },
      parameters: { old: null, new: { VENDOR_TOKEN: '••••read', SHOP: 'vienna', API_KEY: '••••read', EMPTY_KEY: '' } },
    });
    expect(maskAuditedParameters({ parameters: 'odd' })).toEqual({ parameters: 'odd' });
  });

  test('what an earlier rule sealed stays sealed and masked until it is written again', async () => {
    const { db } = story.harness.store;
    const id = await newPipeline(story, {});
    const org = await organisationKey(db, story.org.org_id);
    const secrets = [
      { path: ['VENDOR_TOKEN'], value: OTHER },
      { path: ['KEY'], value: VALUE },
    ];
    const asBefore = {
      parameters: JSON.stringify({ VENDOR_TOKEN: '••••read', KEY: '••••read', SHOP: 'vienna' }),
      parameter_secrets: cipher.sealText(org, JSON.stringify(secrets)),
    };
    await db.updateTable('pipelines').set(asBefore).where('id', '=', id).execute();
    const masked = { VENDOR_TOKEN: '••••read', KEY: '••••read', SHOP: 'vienna' };
    const values = { VENDOR_TOKEN: OTHER, KEY: VALUE, SHOP: 'vienna' };
    const read = await story.got(`pipelines/${id}`);
    expect([read.parameters, await loaded(story, id)]).toEqual([masked, values]);
    const entry = await story.audited(() => story.put(`pipelines/${id}`, read));
    expect(entry.changes, 'sending it back changes nothing').toEqual({});
    expect((await story.put(`pipelines/${id}`, { parameters: { ...masked, SHOP: 'graz' } })).parameters).toEqual({
      ...masked,
      SHOP: 'graz',
    });
    const row = await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row), 'still sealed').not.toContain(VALUE);
    expect(await loaded(story, id)).toEqual({ ...values, SHOP: 'graz' });
    const snapshot = story.harness.operations.snapshots.current().pipelines.get(id);
    expect([snapshot?.scrub?.(`a ${VALUE}`), 'sealed_parameters' in (snapshot?.pipeline ?? {})]).toEqual(['a ••••read', false]);
    expect(await story.refusal('PUT', `pipelines/${id}`, { parameters: { KEY: '••••else' } })).toEqual([
      422,
      'VALIDATION_ERROR',
      'parameters.KEY',
    ]);
    expect((await story.put(`pipelines/${id}`, { parameters: { ...masked, KEY: 'written again' } })).parameters).toEqual({
      ...masked,
      KEY: 'written again',
    });
    expect(await loaded(story, id)).toEqual({ ...values, KEY: 'written again' });
  });

  test('the mask of a secret under another name is refused: it makes nothing readable, and replaces no secret by its text', async () => {
    const id = await newPipeline(story, { API_KEY: VALUE, SHOP: 'vienna' });
    for (const name of ['VENDOR_TOKEN', 'VENDOR_ID', 'SHOP'])
      expect(await story.refusal('PUT', `pipelines/${id}`, { parameters: { [name]: '••••read' } })).toEqual([
        422,
        'VALIDATION_ERROR',
        `parameters.${name}`,
      ]);
    expect(await loaded(story, id)).toEqual({ API_KEY: VALUE, SHOP: 'vienna' });
    expect(await story.refusal('POST', 'pipelines', { name: 'Copy', parameters: { VENDOR_ID: '••••' } })).toEqual([
      422,
      'VALIDATION_ERROR',
      'parameters.VENDOR_ID',
    ]);
  });

  test('a name that only the present rule calls secret is masked at once and sealed when it is written', async () => {
    const { db } = story.harness.store;
    const id = await newPipeline(story, {});
    await db
      .updateTable('pipelines')
      .set({ parameters: JSON.stringify({ DB_PWD: VALUE }) })
      .where('id', '=', id)
      .execute();
    const { parameters } = await story.got(`pipelines/${id}`);
    expect(parameters).toEqual({ DB_PWD: '••••read' });
    await story.put(`pipelines/${id}`, { parameters });
    const row = await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(VALUE);
    expect(await loaded(story, id)).toEqual({ DB_PWD: VALUE });
  });

  test('secrets shorter than 8 characters are not masked in events: they would garble them', async () => {
    const id = await newPipeline(story, { VENDOR_TOKEN: '1234567', API_KEY: '12345678' });
    const scrub = story.harness.operations.snapshots.current().pipelines.get(id)?.scrub;
    expect(scrub?.('order 1234567, total 12345678')).toBe('order 1234567, total ••••');
    const short = await newPipeline(story, { VENDOR_TOKEN: '1234567' });
    expect(story.harness.operations.snapshots.current().pipelines.get(short)?.scrub).toBe(undefined);
  });

  test('rows of earlier versions are masked at once and sealed at the next start', async () => {
    const { db } = story.harness.store;
    const id = await newPipeline(story, {});
    const asBefore = { parameters: JSON.stringify({ VENDOR_TOKEN: VALUE, SHOP: 'vienna' }), parameter_secrets: null };
    await db.updateTable('pipelines').set(asBefore).where('id', '=', id).execute();
    const shown = { VENDOR_TOKEN: '••••read', SHOP: 'vienna' };
    expect((await story.got(`pipelines/${id}`)).parameters).toEqual(shown);
    await sealStoredParameters(db, cipher);
    const row = await db.selectFrom('pipelines').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(VALUE);
    expect((await story.got(`pipelines/${id}`)).parameters).toEqual(shown);
    expect(await loaded(story, id)).toEqual({ VENDOR_TOKEN: VALUE, SHOP: 'vienna' });
    await sealStoredParameters(db, cipher);
    expect(await loaded(story, id)).toEqual({ VENDOR_TOKEN: VALUE, SHOP: 'vienna' });
  });

  test('a transformation that copies one into an event shows it to nobody, yet the event keeps it', async () => {
    const id = await newPipeline(story);
    const at = Date.now();
    const event = {
      event_id: 'copied',
      type: 'track' as const,
      event: 'Order Completed',
      timestamp: new Date(at).toISOString(),
      context: {},
      properties: { total: 42, copied: VALUE, [VALUE]: `Bearer ${VALUE}` },
    };
    const meta = { received_at: at, org_id: story.org.org_id, pipeline_id: id };
    const records = [{ id: eventRecordId(id, 'copied'), data: encodeEventRecord(meta, event) }];
    await story.harness.operations.log.append([{ topic: eventsTopic(id), records }]);
    const about = { at, org_id: story.org.org_id, pipeline_id: id, event_id: 'copied', type: 'track' as const, event: 'Order Completed' };
    const dead_letter = {
      ...{ id: 'dlq_secret_parameter', org_id: story.org.org_id, pipeline_id: id, integration_id: null, webhook_source_id: null },
      ...{ vendor: null, revision_number: null, event_id: 'copied', stage: 'processing' as const, event, attempts: [] },
      reason: `transformation: ${VALUE} is wrong`,
      ...{ created_at: new Date(at).toISOString(), expires_at: new Date(at + 60_000).toISOString() },
    };
    await story.record({ kind: 'processed', received_at: at, decisions: [], ...about });
    await story.record({ kind: 'dead_lettered', ...about, event_id: 'failed', integration_id: null, dead_letter } as never);
    const shown = { total: 42, copied: '••••read', '••••read': 'Bearer ••••read' };
    expect((await story.got('events/copied')).event).toMatchObject({ properties: shown });
    expect((await story.got(`events?pipeline_id=${id}&status=processed`)).events[0]).toMatchObject({ event: { properties: shown } });
    for (const path of ['dlq', 'dlq/groups', 'dlq/dlq_secret_parameter', `pipelines/${id}/fields`, 'events/copied', 'events']) {
      const text = JSON.stringify(await story.got(path));
      expect(text, path).not.toContain(VALUE);
      expect(text, path).toContain('••••read');
    }
  });
});
