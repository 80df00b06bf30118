import { createHash } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../../event-record.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { newIntegration } from '../testing/outcomes.ts';
import { onStory, type Story } from '../testing/story.ts';

async function store(story: Story, pipeline: string, events: object[]): Promise<void> {
  const meta = { received_at: Date.parse('2026-05-01T10:00:00.000Z'), org_id: story.org.org_id, pipeline_id: pipeline };
  const records = events.map((event, at) => {
    const event_id = `fields-${at}`;
    const canonical = { event_id, type: 'track', timestamp: '2026-05-01T10:00:00.000Z', context: {}, ...event } as const;
    return { id: eventRecordId(pipeline, event_id), data: encodeEventRecord(meta, canonical as Parameters<typeof encodeEventRecord>[1]) };
  });
  await story.harness.operations.log.append([{ topic: eventsTopic(pipeline), records }]);
}

onStory('fields really seen', (story) => {
  test('have their path, types, newest example and the events that carry them', async () => {
    const { pipeline } = await newIntegration(story);
    await store(story, pipeline, [
      { type: 'page', name: 'Home', properties: { total: 'none', 'a.b': 1 } },
      { event: 'Order Completed', properties: { total: 42, products: [{ price: 1 }, { price: 2.5, gift: true }], empty: {} } },
    ]);
    const { fields, sampled, truncated } = await story.got(`pipelines/${pipeline}/fields`);
    expect([sampled, truncated]).toEqual([2, false]);
    const byPath = Object.fromEntries(fields.map((field) => [field.path, field]));
    expect(byPath['properties.total']).toMatchObject({ types: ['number', 'string'], example: 42, events: ['@page', 'Order Completed'] });
    expect(byPath['properties.products[*].price']).toMatchObject({ types: ['number'], example: 1, events: ['Order Completed'] });
    expect(byPath['properties.products[*].gift']).toMatchObject({ types: ['boolean'], example: true });
    expect(byPath['properties.empty']).toMatchObject({ types: ['object'], example: null });
    expect(byPath['properties["a.b"]'], 'keys with dots are written as paths take them').toMatchObject({ types: ['number'] });
    expect(byPath['properties.total']).toMatchObject({ last_seen_at: '2026-05-01T10:00:00.000Z' });
  });

  test('a privacy rule covers the examples of events from before it', async () => {
    const { pipeline } = await newIntegration(story);
    const email = 'anna@example.com';
    const hashed = createHash('sha256').update(email).digest('hex');
    await store(story, pipeline, [
      {
        event: 'Signed Up',
        user_id: email,
        traits: { email: hashed, phone: '+43 660 1234567', card: 4242 },
        properties: { note: `write to ${email}`, link: 'https://shop.example/?mail=x&page=2' },
        context: { ip: '203.0.113.77' },
      },
    ]);
    const before = (await story.got('data-layer')).config;
    await story.put('data-layer', {
      config: {
        pii_rules: {
          ip: 'truncate',
          fields: [
            { path: 'user_id', action: 'hash' },
            { path: 'traits.email', action: 'hash' },
            { path: 'traits.phone', action: 'redact' },
            { path: 'traits.card', action: 'drop' },
          ],
          detect: ['email'],
          detect_action: 'redact',
          url_params: ['mail'],
        },
      },
    });
    const { fields } = await story.got(`pipelines/${pipeline}/fields`);
    await story.put('data-layer', { config: { pii_rules: before.pii_rules } });
    expect(JSON.stringify(fields)).not.toContain(email);
    const examples = Object.fromEntries(fields.map(({ path, example }) => [path, example]));
    expect(examples).toMatchObject({
      user_id: hashed,
      'traits.email': hashed,
      'traits.phone': '[redacted]',
      'properties.note': 'write to [redacted]',
      'properties.link': 'https://shop.example/?page=2',
      'context.ip': '203.0.113.0',
    });
    expect(examples).not.toHaveProperty(['traits.card']);
  });

  test('an event of 50,000 values is not looked at as a whole', async () => {
    const { pipeline } = await newIntegration(story);
    const list = Array.from({ length: 20 }, (_, n) => ({ same: n }));
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`list_${n}`, list]));
    await store(story, pipeline, [{ event: 'Wide', properties: wide }]);
    const { fields, truncated } = await story.got(`pipelines/${pipeline}/fields`);
    // 2,000 values: 20 of each list, less those outside `properties`.
    expect([fields.length <= 105, truncated]).toEqual([true, true]);
  });

  test('events that are too large to cross to the read thread together are one sample', async () => {
    const { pipeline } = await newIntegration(story);
    const text = 'x'.repeat(300_000);
    const names = ['first', 'second', 'third', 'fourth'];
    await store(
      story,
      pipeline,
      names.map((name) => ({ event: name, properties: { [name]: text, shared: name } })),
    );
    const { fields, sampled } = await story.got(`pipelines/${pipeline}/fields`);
    expect(sampled).toBe(4);
    const properties = fields.filter(({ path }) => String(path).startsWith('properties.'));
    expect(properties.map(({ path, events }) => [path, events])).toEqual([
      ['properties.first', ['first']],
      ['properties.fourth', ['fourth']],
      ['properties.second', ['second']],
      ['properties.shared', ['first', 'fourth', 'second', 'third']],
      ['properties.third', ['third']],
    ]);
    expect(properties.find(({ path }) => String(path) === 'properties.shared')).toMatchObject({ example: 'fourth' });
  });

  test('a log that fails while it is sampled is an outage, and the next sample is whole', async () => {
    const { pipeline } = await newIntegration(story);
    const large = { event: 'Large', properties: { text: 'x'.repeat(300_000) } };
    await store(story, pipeline, [large, large]);
    const { log } = story.harness.operations;
    const whole = log.readPacked.bind(log);
    const read = vi.spyOn(log, 'readPacked').mockImplementation(async function* (topic, range) {
      yield* whole(topic, range);
      throw new LogUnavailable('away');
    });
    onTestFinished(() => read.mockRestore());
    expect((await story.call('GET', `pipelines/${pipeline}/fields`)).status).toBe(503);
    read.mockRestore();
    expect(await story.got(`pipelines/${pipeline}/fields`)).toMatchObject({ sampled: 2 });
  });

  test('are at most 1,000, and the answer says when there are more', async () => {
    const { pipeline } = await newIntegration(story);
    const wide = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`field_${n}`, n]));
    await store(story, pipeline, [{ event: 'Wide', properties: wide }]);
    const { fields, truncated } = await story.got(`pipelines/${pipeline}/fields`);
    expect([fields.length, truncated]).toEqual([1_000, true]);
    expect(await story.got(`pipelines/${(await newIntegration(story)).pipeline}/fields`)).toEqual({
      fields: [],
      sampled: 0,
      truncated: false,
    });
  });
});
