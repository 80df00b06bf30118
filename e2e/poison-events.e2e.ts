/**
 * Events that a store, a codec or a limit may not take once they are accepted. None of them may stop a loop in the background: the events of
 * others are delivered and traced, and each of these ends in a recorded state.
 */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Loose, pipelineTo, send, until } from './harness/client.ts';
import { stage } from './harness/stage.ts';

const { service, client, receiver } = await stage({ RETRY_BASE: '10ms' });

/** No compression makes it much shorter. */
const random = (length: number) => randomBytes(length).toString('base64url').slice(0, length);
/** Three bytes each in UTF-8. */
const wide = (length: number) => Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000))).join('');
const nested = (depth: number): unknown => (depth === 0 ? 'a@shop.example' : { in: nested(depth - 1) });
const ODD = '\0\ud800"\\{}#:%\n😀';
const emails = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`mail_${i}`, `a${i}@shop.example`]));

const EVENTS: Record<string, Loose> = {
  'long ids': { userId: wide(1_024), anonymousId: wide(1_023), event: wide(1_024) },
  'odd characters': { userId: ODD, anonymousId: ODD, event: ODD, properties: { [ODD]: ODD, __proto__: ODD }, context: { [ODD]: ODD } },
  'an odd messageId': { messageId: '"\\#%{}:~ \'`$,'.repeat(15) },
  'a long name of values': { properties: { [random(300_000)]: emails } },
  'a long name that violates the plan': { event: 'Planned', properties: { [random(300_000)]: { total: 'x' } } },
  'many fields': { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`field_${i}`, i])) },
  'many e-mail addresses': { properties: { list: Array.from({ length: 30_000 }, (_, i) => `${random(5)}${i}@shop.example`) } },
  'the deepest nesting': { properties: { deep: nested(60) } },
  'the first moment': { timestamp: '1970-01-01T00:00:00.000Z' },
  'the last moment': { timestamp: '9999-12-31T23:59:59.999Z', sentAt: '1970-01-01T00:00:00.000Z' },
  'large numbers': { properties: { a: 1.7976931348623157e308, b: 5e-324, c: -0, d: 9_007_199_254_740_991 } },
  'a context of wrong types': {
    context: {
      page: 7,
      consent: ['marketing'],
      ip: {},
      userAgent: [],
      session: 'x',
      campaign: 3,
      click_ids: [],
      vendor_ids: 'y',
      locale: {},
    },
  },
  'the largest traits': { type: 'identify', userId: 'u-large', traits: { about: random(900_000), email: 'a@shop.example' } },
  'more of the largest traits': { type: 'identify', userId: 'u-large', traits: { more: random(900_000) } },
  'the largest event': { properties: { note: random(1_000_000) } },
  'a large event that its vendor refuses': { event: 'Refuse', properties: { note: random(900_000) } },
  'a large event that its vendor never takes': { event: 'Fail', properties: { note: random(900_000) } },
  'a large event on which code breaks': { event: 'Throw', properties: { note: random(1_000_000) } },
  'names that code makes long': { event: 'Grow' },
  'an event with a field raw that its vendor refuses': { event: 'Refuse', properties: { raw: { userId: 7 } } },
};
const CODE = `function transform(event) {
  if (event.event === 'Throw') throw new Error(event.properties.note);
  if (event.event === 'Grow') { event.user_id = event.event = 'g'.repeat(300000); event.context.list = Array(50).fill('z'.repeat(9000)); }
  return event;
}`;

test('no event stops the events of others', async () => {
  receiver.answer(({ body, path }) => {
    if (body.includes('"event":"Refuse"')) return { status: 400, body: `"${'n'.repeat(70_000)}` };
    if (body.includes('"event":"Fail"')) return path === '/reset' ? 'reset' : { status: 503, body: ODD.replaceAll('\n', '') };
    return { body: '['.repeat(60_000) };
  });
  await client.put('/data-layer', {
    config: {
      identity: { remember_traits: ['about', 'more', 'email'] },
      pii_rules: { detect: ['email', 'phone', 'card', 'iban'], detect_action: 'hash', url_params: ['email'] },
    },
  });
  const { pipeline, key } = await pipelineTo(client, `${receiver.url}/single`);
  const more: Loose[] = [
    { url: `${receiver.url}/batch`, batch_enabled: true, batch_size: 5, batch_interval_ms: 100 },
    {
      url: `${receiver.url}/reset`,
      payload_format: 'custom',
      payload_template: '{"event":"{{event}}","id":"{{event_id}}","all":{{{json properties}}}}',
    },
  ];
  for (const config of more)
    await client.post('/integrations', { source_id: pipeline.id, vendor: 'webhook', name: config.url, enabled: true, config });
  await client.put(`/pipelines/${pipeline.id}/tracking-plan`, {
    events: { Planned: { type: 'object', additionalProperties: { type: 'string' } } },
    on_violation: 'flag',
  });
  await client.post(`/pipelines/${pipeline.id}/transformations`, {
    name: 'Rules',
    kind: 'rules',
    rules: [{ type: 'map', source: 'properties.raw', target: 'raw' }],
  });
  await client.post(`/pipelines/${pipeline.id}/transformations`, { name: 'Code', kind: 'code', code: CODE });

  const ids: string[] = [];
  for (const [name, event] of Object.entries(EVENTS)) {
    const messageId = `${ids.length}-${event.messageId ?? name}`;
    const whole = { type: 'track', event: 'Poison', anonymousId: 'v1', properties: {}, ...event, messageId };
    const { status, body } = await send(service, key, '/v1/batch', { batch: [whole] });
    expect([status, body], name).toEqual([200, expect.objectContaining({ accepted: 1 })]);
    ids.push(messageId);
  }
  for (const visitor of ['v1', 'v2'])
    expect(
      (await send(service, key, '/v1/t', { type: 'track', event: 'After', anonymousId: visitor, messageId: `after-${visitor}` })).status,
    ).toBe(200);

  for (const id of ['after-v1', 'after-v2']) {
    await until(`the deliveries of ${id}`, () =>
      ['/single', '/batch', '/reset'].every((to) => receiver.requests.some(({ path, body }) => path === to && body.includes(`"${id}"`))),
    );
    await until(`the trace of ${id}`, async () => (await client.call('GET', `/events/${id}`)).status === 200);
  }
  for (const [at, id] of ids.entries())
    await until(
      `the trace of ${Object.keys(EVENTS)[at]}`,
      async () => (await client.call('GET', `/events/${encodeURIComponent(id)}`)).status === 200,
    );
  await until('nothing waits', async () => {
    const { integrations } = await client.get(`/pipelines/${pipeline.id}/integrations`);
    return integrations.every(({ health }: Loose) => health.waiting === 0);
  });
  const { totals } = await client.get(`/stats?pipeline_id=${pipeline.id}`);
  expect(totals).toMatchObject({ received: ids.length + 2 });
});
