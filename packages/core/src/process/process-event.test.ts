import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DataLayerConfig } from '../config/resources.ts';
import { transformation as resource, type Transformation } from '../config/transformation.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { canonicaliseParsed } from '../event/canonicalise.ts';
import type { JsonObject } from '../json.ts';
import { hashPii } from '../privacy/digest.ts';
import { acceptReturned, type CodeResult, type RunCode } from './code.ts';
import { compileOrganisation, compileProcessing, validateTransformation } from './compiled.ts';
import { processEvent } from './process-event.ts';

const transformation = (over: Partial<Transformation>): Transformation => resource.sample({ id: 'trf_1', kind: 'rules', ...over });
const anEvent = (over: Partial<CanonicalEvent> = {}): CanonicalEvent => ({
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  anonymous_id: 'v1',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: { ip: '203.0.113.7' },
  properties: { total: 5 },
  ...over,
});
const noCode: RunCode = () => Promise.reject(new Error('no code expected'));

function run(
  event: CanonicalEvent,
  options: {
    dataLayer?: Partial<DataLayerConfig>;
    transformations?: Transformation[];
    runCode?: RunCode;
    parameters?: Record<string, string>;
  } = {},
) {
  return processEvent(
    {
      event,
      request: { source: 'browser' },
      org_id: 'org_1',
      pipeline_id: 'pl_1',
      received_at: 1_000,
      organisation: compileOrganisation(options.dataLayer ?? {}).organisation,
      processing: compileProcessing({ transformations: options.transformations ?? [], parameters: options.parameters ?? {} }).processing,
      visitor: event.anonymous_id === undefined ? undefined : { id: event.anonymous_id, state: {} },
    },
    { runCode: options.runCode ?? noCode },
  );
}

test('a large event leaves the loop to others between its slices, with the same result', async () => {
  const { organisation } = compileOrganisation({
    pii_rules: { ip: 'keep', fields: [], detect: ['email'], detect_action: 'redact', url_params: [] },
  });
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const note = 'a@'.repeat(100_000);
  const processWith = (large: boolean, turn?: () => Promise<void>) =>
    processEvent(
      {
        event: anEvent({ properties: { note, mail: 'write to anna@example.com' } }),
        request: { source: 'browser' },
        org_id: 'org_1',
        pipeline_id: 'pl_1',
        received_at: 1_000,
        organisation,
        processing,
        visitor: undefined,
        large,
      },
      { runCode: noCode, ...(turn && { turn }) },
    );
  let turns = 0;
  const inSlices = processWith(true, async () => {
    turns += 1;
  });
  expect(inSlices).toBeInstanceOf(Promise);
  const { event } = await inSlices;
  expect(turns).toBeGreaterThan(5);
  expect(event).toEqual((await processWith(false)).event);
  expect(event.properties?.mail).not.toContain('anna');
});

// They were added after the rules: a rule that came later, and one on the browser's ids, did not hold for them.
test('the privacy rules hold for what was remembered before them, and for cookies', () => {
  const email = 'ada@shop.example';
  const known = {
    user_id: 'ada',
    traits: { email, 'first.name': 'Ada', address: { street: 'Main Street' }, plan: 'pro', note: `mail ${email}` },
    group_id: 'acme',
    campaign_first: { source: 'news', term: email },
    clicks: { gclid: ['G1', 900] as const },
    session: { id: 's', started_at: 1, last_at: 900 },
  };
  const state = structuredClone(known);
  const fields = [
    { path: 'user_id', action: 'hash' },
    { path: 'traits.email', action: 'hash' },
    { path: 'traits["first.name"]', action: 'drop' },
    { path: 'traits.address.street', action: 'redact' },
    { path: 'context.group_id', action: 'redact' },
    { path: 'context.vendor_ids.fbp', action: 'drop' },
    { path: 'context.click_ids', action: 'drop' },
  ] as const;
  const { organisation } = compileOrganisation({
    pii_rules: { ip: 'keep', fields: [...fields], detect: ['email'], detect_action: 'redact', url_params: [] },
    identity: { remember_traits: Object.keys(known.traits), click_id_days: {} },
  });
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const request = { source: 'browser' as const, cookies: { _fbp: 'fb.1.1.1' } };
  const consent = { categories: { marketing: true, statistics: true } };
  const result = processEvent(
    {
      event: anEvent({ context: { consent } }),
      request,
      org_id: 'org_1',
      pipeline_id: 'pl_1',
      received_at: 1_000,
      organisation,
      processing,
      visitor: { id: 'v1', state },
    },
    { runCode: noCode },
  );
  if (result instanceof Promise) throw new Error('no code, no promise');
  const { user_id, traits, context } = result.event;
  expect({ user_id, traits }).toEqual({
    user_id: hashPii('ada'),
    traits: { email: hashPii(email), address: { street: '[redacted]' }, plan: 'pro', note: 'mail [redacted]' },
  });
  expect(context).toMatchObject({ group_id: '[redacted]', campaign_first: { source: 'news', term: '[redacted]' } });
  expect(Object.keys(context)).not.toEqual(expect.arrayContaining(['vendor_ids']));
  expect(Object.keys(context)).not.toEqual(expect.arrayContaining(['click_ids']));
  expect(state, 'the visitor is not written to').toEqual(known);
});

test('every field that a step writes is in its decision', () => {
  const { organisation } = compileOrganisation({ identity: { remember_traits: ['email'], click_id_days: {} } });
  const body = {
    type: 'track',
    event: 'Order Completed',
    context: {
      page: { url: 'https://shop.example/?utm_source=news&gclid=G1' },
      vendor_ids: { _fbp: 'fb.1.1.1' },
      consent: { categories: { marketing: true } },
    },
  };
  const request = {
    v: 1 as const,
    org_id: 'org_1',
    pipeline_id: 'pl_1',
    event_id: 'e1',
    received_at: 1_000,
    source: 'browser' as const,
    anonymous_id: 'v1',
    ip: '203.0.113.7',
    user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile/15E148 Safari/604.1',
    gpc: true as const,
  };
  const event = canonicaliseParsed(request, body);
  const before = structuredClone(event);
  const state = { user_id: 'u1', traits: { email: 'a@b.example' }, session: { id: 's', started_at: 1, last_at: 900 } };
  const { processing } = compileProcessing({ transformations: [], parameters: {} });
  const result = processEvent(
    { event, request, org_id: 'org_1', pipeline_id: 'pl_1', received_at: 1_000, organisation, processing, visitor: { id: 'v1', state } },
    { runCode: noCode, geo: () => ({ country: 'AT' }) },
  );
  if (result instanceof Promise) throw new Error('no code, no promise');
  const named = result.decisions.flatMap(({ changed }) => changed ?? []);
  const written = [
    ...Object.keys(result.event.context)
      .filter((key) => JSON.stringify(result.event.context[key]) !== JSON.stringify(before.context[key]))
      .map((key) => (key === 'consent' ? 'context.consent.canonical' : `context.${key}`)),
    'user_id',
    'traits.email',
  ];
  expect(named.sort()).toEqual(written.sort());
  expect(result.decisions.map(({ step, result: what }) => [step, what])).toEqual([
    ['context', 'enriched'],
    ['consent', 'gpc_denied'],
    ['bots', 'human'],
    ['session', 'continued'],
    ['identity', 'recognised'],
    ['memory', 'completed'],
  ]);
});

describe('order and outcome', () => {
  test('without user code the result is synchronous', () => {
    const result = run(anEvent());
    expect(result).toMatchObject({
      kind: 'processed',
      event: { context: { consent: { canonical: { essential: true } }, session: { is_new: true } } },
    });
    expect(result).not.toBeInstanceOf(Promise);
  });

  test('transformations run in position order after their event filters; disabled ones do not run', () => {
    const set = (target: string, value: unknown) => [{ type: 'set' as const, target, value }];
    const result = run(anEvent(), {
      transformations: [
        transformation({ id: 'c', position: 2, rules: [{ type: 'map', source: 'properties.step', target: 'properties.seen' }] }),
        transformation({ id: 'a', position: 0, rules: set('properties.step', 'first') }),
        transformation({ id: 'b', position: 1, rules: set('properties.step', 'second') }),
        transformation({ id: 'off', position: 1, enabled: false, rules: set('properties.off', true) }),
        transformation({ id: 'other', position: 1, event_filter: { event_names: ['@page'] }, rules: set('properties.page', true) }),
        transformation({
          id: 'mine',
          position: 3,
          event_filter: { event_names: ['Order Completed'] },
          rules: set('properties.mine', true),
        }),
      ],
    });
    expect(result).toMatchObject({ kind: 'processed' });
    expect((result as { event: CanonicalEvent }).event.properties).toEqual({ total: 5, step: 'second', seen: 'second', mine: true });
  });

  test('placeholders in rules are replaced by parameters; a missing one stays, with one warning', () => {
    const compiled = compileProcessing({
      transformations: [
        transformation({ rules: [{ type: 'set', target: 'properties.a', value: '{{pipeline_param.A}}-{{pipeline_param.B}}' }] }),
      ],
      parameters: { A: 'one' },
    });
    expect(compiled.warnings).toEqual([expect.stringContaining('no parameter B')]);
    const result = run(anEvent(), {
      transformations: [transformation({ rules: [{ type: 'set', target: 'properties.a', value: '{{pipeline_param.A}}' }] })],
      parameters: { A: 'one' },
    });
    expect(result).toMatchObject({ event: { properties: { a: 'one' } } });
  });

  test.each([
    ['elements of a list', { field: 'properties.many[*].i', op: 'eq', value: -1 }],
    ['elements of two lists', { field: 'properties.many[*].i', op: 'in', value: [-1, -2, -3, -4] }],
    ['long texts', { field: 'properties.text', op: 'contains', value: 'xy' }],
  ] as const)('routing conditions that read %s too often fail the event: they took 1 to 7 s', (_name, condition) => {
    const many = Array.from({ length: 40_000 }, (_, i) => ({ i }));
    const event = anEvent({ properties: { many, text: 'x'.repeat(400_000) } });
    const rule = { condition: { any: new Array(100).fill(condition) }, action: 'drop' as const };
    const routing_rules = new Array(10).fill(rule);
    expect(run(event, { dataLayer: { routing_rules } })).toMatchObject({
      kind: 'failed',
      reason: 'routing: the rules read more than 8 MB of the event',
    });
  });
  test('routing: the first rule that holds decides, in its pipelines only', () => {
    const eq = (value: string) => ({ field: 'event', op: 'eq' as const, value });
    const kind = (rules: DataLayerConfig['routing_rules']) =>
      (run(anEvent(), { dataLayer: { routing_rules: rules } }) as { kind: string }).kind;
    expect(kind([{ condition: eq('Order Completed'), action: 'drop' }])).toBe('dropped');
    expect(
      kind([
        { condition: eq('Order Completed'), action: 'pass' },
        { condition: eq('Order Completed'), action: 'drop' },
      ]),
    ).toBe('processed');
    expect(kind([{ condition: eq('Order Completed'), action: 'drop', pipeline_ids: ['pl_2'] }])).toBe('processed');
    expect(kind([{ condition: eq('Order Completed'), action: 'drop', pipeline_ids: ['pl_2', 'pl_1'] }])).toBe('dropped');
    expect(kind([{ condition: eq('Other'), action: 'drop' }])).toBe('processed');
  });

  test('an invalid transformation is disabled, with its faults; the others work', () => {
    const { processing, faults } = compileProcessing({
      transformations: [transformation({ id: 'bad', rules: [{ type: 'nonsense' } as never] }), transformation({ id: 'good', rules: [] })],
      parameters: {},
    });
    expect(processing.transformations.map(({ id }) => id)).toEqual(['good']);
    expect(faults[0]!.field).toMatch(/^transformations\.bad\.rules\[0\]/);
  });

  test('a failure keeps the event as it was before rules and code, after the privacy rules', async () => {
    const failing: RunCode = async () => ({ kind: 'failed', reason: 'stopped after 50 ms', logs: ['seen'] });
    const result = await run(anEvent(), {
      dataLayer: { pii_rules: { ip: 'drop', fields: [], detect: [], detect_action: 'redact', url_params: [] } },
      transformations: [
        transformation({ id: 'r', rules: [{ type: 'set', target: 'properties.twice', value: 1 }] }),
        transformation({ id: 'c', position: 1, kind: 'code', code: 'x' }),
      ],
      runCode: failing,
    });
    expect(result).toMatchObject({ kind: 'failed', reason: 'transformation c: stopped after 50 ms', event: { properties: { total: 5 } } });
    expect(result.event.properties).not.toHaveProperty('twice');
    expect(result.event.context).not.toHaveProperty('ip');
    expect(result.decisions.at(-1)).toEqual({ step: 'transformation', result: 'failed', detail: 'c\nseen' });
  });

  test('custom code, then the pipeline’s own; parameters and pipeline are passed on', async () => {
    const calls: unknown[] = [];
    const runCode: RunCode = async ({ code, pipeline_id, parameters, event }) => {
      calls.push([code.owner, pipeline_id, parameters]);
      return { kind: 'returned', value: { ...event, properties: { ...event.properties, [code.owner]: true } }, logs: [] };
    };
    const result = await run(anEvent(), {
      dataLayer: { custom_js: { enabled: true, code: 'x' } },
      transformations: [transformation({ kind: 'code', code: 'y' })],
      runCode,
      parameters: { A: '1' },
    });
    expect(calls).toEqual([
      ['organisation', 'pl_1', { A: '1' }],
      ['trf_1', 'pl_1', { A: '1' }],
    ]);
    expect(result.event.properties).toEqual({ total: 5, organisation: true, trf_1: true });
  });

  test('a rejected sandbox promise becomes a failed event', async () => {
    const result = await run(anEvent(), { transformations: [transformation({ kind: 'code', code: 'x' })] });
    expect(result).toMatchObject({ kind: 'failed', reason: 'processing broke: no code expected' });
  });
});

test('a click id on an event without a visitor has a time', () => {
  const { anonymous_id: _visitor, ...event } = anEvent({ context: { click_ids: { gclid: 'G1' } } });
  const result = run(event);
  expect(result).toMatchObject({ event: { context: { click_id_times: { gclid: '1970-01-01T00:00:01.000Z' } } } });
  expect(result).toMatchObject({ decisions: expect.arrayContaining([expect.objectContaining({ changed: ['context.click_id_times'] })]) });
  const denied = run({ ...event, context: { click_ids: { gclid: 'G1' }, consent: { categories: { marketing: false } } } });
  expect(denied).not.toHaveProperty('event.context.click_id_times');
});

describe('a page call that describes its page in the properties', () => {
  const properties = {
    url: 'https://shop.example/a?token=t&x=1',
    title: 'A',
    referrer: 'https://other.example/',
    path: '/a',
    search: '?x=1',
  };
  const page = (context: JsonObject, over: Partial<CanonicalEvent> = {}) => anEvent({ type: 'page', context, properties, ...over });
  const pageOf = (result: ReturnType<typeof run>) => (result as { event: CanonicalEvent }).event.context.page;

  test('has it in context.page too', () => {
    const result = run(page({}));
    expect(pageOf(result)).toEqual(properties);
    expect(result).toMatchObject({ decisions: expect.arrayContaining([expect.objectContaining({ changed: ['context.page'] })]) });
    expect(pageOf(run(page({ page: { url: 'https://shop.example/own' } })))).toEqual({ ...properties, url: 'https://shop.example/own' });
  });
  test('keeps the privacy rules', () => {
    const dataLayer = { pii_rules: { fields: [{ path: 'properties.title', action: 'drop' }], url_params: ['token'] } };
    const { title: _dropped, ...rest } = properties;
    expect(pageOf(run(page({}), { dataLayer: dataLayer as never }))).toEqual({ ...rest, url: 'https://shop.example/a?x=1' });
  });
  test('other calls have no page: the URL of a track call is that of a product', () => {
    expect(pageOf(run(page({}, { type: 'track' })))).toBeUndefined();
    expect(pageOf(run(page({}, { original_type: 'screen' })))).toBeUndefined();
    expect(pageOf(run(page({}, { properties: { url: '/relative', title: '' } })))).toBeUndefined();
  });
});

describe('the name of a page call', () => {
  const nameOf = (over: Partial<CanonicalEvent>, dataLayer = {}) => {
    const result = run(anEvent({ type: 'page', properties: { name: 'Home' }, ...over }), { dataLayer: dataLayer as never });
    return (result as { event: CanonicalEvent }).event.name;
  };
  test.each<[string, Partial<CanonicalEvent>, object, string | undefined]>([
    ['Jitsu sends it in the properties', {}, {}, 'Home'],
    ['of a screen too', { original_type: 'screen' }, {}, 'Home'],
    ['its own wins', { name: 'Own' }, {}, 'Own'],
    ['the privacy rules hold', {}, { pii_rules: { fields: [{ path: 'properties.name', action: 'drop' }] } }, undefined],
    ['of other calls the property is something else', { type: 'track' }, {}, undefined],
    ['no text', { properties: { name: 5 } }, {}, undefined],
    ['longer than a name may be', { properties: { name: 'x'.repeat(1_025) } }, {}, undefined],
  ])('%s', (_name, over, dataLayer, name) => {
    expect(nameOf(over, dataLayer)).toBe(name);
  });
});

describe('the group of an event that is no group call', () => {
  const groupOf = (context: JsonObject, over: Partial<CanonicalEvent> = {}, dataLayer = {}) => {
    const result = run(anEvent({ context, ...over }), { dataLayer: dataLayer as never });
    return (result as { event: CanonicalEvent }).event.context.group_id;
  };
  test.each<[string, JsonObject, Partial<CanonicalEvent>, string | undefined]>([
    ['Segment names it groupId', { groupId: 'acme' }, {}, 'acme'],
    ['it may be a number', { groupId: 7 }, {}, '7'],
    ['an event without a visitor has it too', { groupId: 'acme' }, { anonymous_id: undefined as never, user_id: 'u' }, 'acme'],
    ['group_id wins', { groupId: 'acme', group_id: 'umbrella' }, {}, 'umbrella'],
    ['null is none', { groupId: 'acme', group_id: null }, {}, 'acme'],
    ['a group call names its own', { groupId: 'acme' }, { type: 'group', group_id: 'umbrella' }, 'umbrella'],
    ['no id', { groupId: {} }, {}, undefined],
    ['longer than an id may be', { groupId: 'x'.repeat(1_025) }, {}, undefined],
  ])('%s', (_name, context, over, group) => {
    expect(groupOf(context, over)).toBe(group);
  });
  test('the privacy rules hold, and the client’s field stays', () => {
    const drop = { pii_rules: { fields: [{ path: 'context.groupId', action: 'drop' }] } };
    expect(groupOf({ groupId: 'acme' }, {}, drop)).toBeUndefined();
    expect(run(anEvent({ context: { groupId: 'acme' } }))).toMatchObject({ event: { context: { groupId: 'acme', group_id: 'acme' } } });
  });
});

describe('what code may return', () => {
  const event = anEvent();
  const cases: [name: string, value: unknown, expected: object][] = [
    ['null', null, { kind: 'dropped' }],
    ['the event', event, { kind: 'event', event }],
    ['another id stays the old one', { ...event, event_id: 'x' }, { kind: 'event', event: { event_id: 'e1' } }],
    ['unknown keys go', { ...event, extra: 1 }, { kind: 'event', event }],
    ['a number as an id', { ...event, user_id: 5 }, { kind: 'event', event: { user_id: '5' } }],
    ['a time', { ...event, timestamp: '2026-02-03T04:05:06+01:00' }, { kind: 'event', event: { timestamp: '2026-02-03T03:05:06.000Z' } }],
    ['a list', [event], { kind: 'failed' }],
    ['a text', 'event', { kind: 'failed' }],
    ['no type', { ...event, type: 'click' }, { kind: 'failed' }],
    ['no name', { ...event, event: '' }, { kind: 'failed' }],
    ['a bad time', { ...event, timestamp: 'soon' }, { kind: 'failed' }],
    ['a time of another format', { ...event, timestamp: 'Tue, 03 Feb 2026 04:05:06 GMT' }, { kind: 'failed' }],
    ['an empty id is none', { ...event, user_id: '' }, { kind: 'event', event: expect.not.objectContaining({ user_id: '' }) }],
    ['properties that are none', { ...event, properties: [1] }, { kind: 'failed' }],
    ['an object for an id', { ...event, user_id: {} }, { kind: 'failed' }],
    ['a depth bomb', { ...event, properties: Array.from({ length: 70 }).reduce<object>((inner) => ({ inner }), {}) }, { kind: 'failed' }],
  ];
  test.each(cases)('%s', (_name, value, expected) => {
    const accepted = acceptReturned(value, event);
    expect(accepted).toMatchObject(expected);
    if (accepted.kind === 'event') expect(accepted.event).not.toHaveProperty('extra');
  });
});

test('code keeps the event’s integrations, and its original_type while the type stays', async () => {
  const screen = () => anEvent({ type: 'page', original_type: 'screen', integrations: { All: false } });
  const returning = (change: object) => async () => {
    const { integrations: _integrations, original_type: _type, ...event } = screen();
    return { kind: 'returned' as const, value: { ...event, ...change }, logs: [] };
  };
  const code = { dataLayer: { custom_js: { enabled: true, code: 'x' } }, transformations: [transformation({ kind: 'code', code: 'x' })] };
  const same = await run(screen(), { ...code, runCode: returning({}) });
  expect(same).toMatchObject({ kind: 'processed', event: { type: 'page', original_type: 'screen', integrations: { All: false } } });
  const other = await run(screen(), { ...code, runCode: returning({ type: 'track', original_type: 'screen', integrations: {} }) });
  expect(other).toMatchObject({ kind: 'processed', event: { type: 'track', integrations: { All: false } } });
  expect(other.event).not.toHaveProperty('original_type');
});

test('rules that leave integrations that are no object fail', () => {
  const rules = [{ type: 'set', target: 'integrations', value: null }];
  expect(run(anEvent(), { transformations: [transformation({ rules: rules as never })] })).toMatchObject({ kind: 'failed' });
});

test('transformations as the API receives them', () => {
  const cases: [input: Partial<Transformation>, fields: string[]][] = [
    [{ kind: 'rules', rules: [] }, []],
    [{ kind: 'code', code: 'function transform(e) { return e }' }, []],
    [{ kind: 'code', code: '' }, ['code']],
    [{ kind: 'other' as never }, ['kind']],
    [{ kind: 'rules', rules: [{ type: 'set', target: 'event_id', value: 1 }] }, ['rules[0].target']],
    [{ kind: 'rules', event_filter: { event_names: [1], x: 1 } as never }, ['event_filter.x', 'event_filter.event_names']],
  ];
  for (const [input, fields] of cases) expect(validateTransformation(input).map(({ field }) => field)).toEqual(fields);
});

describe('no input throws, and nothing reaches a prototype', () => {
  const nasty = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'page',
    'url',
    'consent',
    'categories',
    'canonical',
    'ip',
    'user_agent',
    'device',
    'geo',
    'vendor_ids',
    'cookies',
    'click_ids',
    'campaign',
    'gpc',
    'email',
    'locale',
    'session',
    'bot',
  );
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '\ud800',
      '\u0000',
      'a@b.example?email=1',
      'https://x/?utm_source=%E0%A4%A',
      '::ffff:1.2.3.4',
      '+1'.repeat(20),
      '4111 1111 1111 1111',
      'Googlebot',
    ),
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      text,
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.array(fc.tuple(fc.oneof(nasty, text), tie('json')), { maxLength: 5 }).map(entriesToObject),
    ),
  }));
  /** As JSON.parse makes it: `__proto__` is a key like any other. */
  function entriesToObject(entries: [string, unknown][]): unknown {
    const object = {};
    for (const [key, value] of entries) Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    return object;
  }
  const dataLayer: Partial<DataLayerConfig> = {
    bot_filtering: { action: 'flag', block_empty_user_agent: true, custom_patterns: ['probe'] },
    pii_rules: {
      ip: 'truncate',
      fields: [
        { path: '**.email', action: 'hash' },
        { path: 'traits.*', action: 'redact' },
        { path: 'context.__proto__.x', action: 'drop' },
      ],
      detect: ['email', 'phone', 'card', 'iban'],
      detect_action: 'hash',
      url_params: ['email'],
    },
    identity: { remember_traits: ['__proto__', 'email'], click_id_days: {} },
    routing_rules: [{ condition: { field: 'context.consent.canonical.analytics', op: 'eq', value: 'never' }, action: 'drop' }],
  };
  const transformations = [
    transformation({
      rules: [
        { type: 'set', target: 'properties.__proto__.polluted', value: 1 },
        { type: 'map', source: 'context.page.url', target: 'properties.copied', transforms: ['lowercase'] },
      ],
    }),
  ];

  test.each([
    ['default data layer', {}, []],
    ['everything on', dataLayer, transformations],
  ] as [string, Partial<DataLayerConfig>, Transformation[]][])('%s', (_name, layer, steps) => {
    const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
    fc.assert(
      fc.property(
        fc.constantFrom('track', 'page', 'identify', 'group', 'screen', 'alias', 'x'),
        json,
        json,
        json,
        text,
        (type, context, properties, traits, name) => {
          const body = { type, event: name, name, userId: name, groupId: name, context, properties, traits } as JsonObject;
          const event = canonicaliseParsed(
            { v: 1, org_id: 'org_1', pipeline_id: 'pl_1', event_id: 'e1', received_at: 1_000, source: 'browser', anonymous_id: 'v1' },
            body,
          );
          const result = run(event, { dataLayer: layer, transformations: steps });
          if (result instanceof Promise) throw new Error('not at once');
          expect(result.kind === 'failed' ? result.reason : '').not.toMatch(/processing broke/);
          const stored = JSON.stringify(result.event);
          expect(JSON.stringify(JSON.parse(stored))).toBe(stored);
          expect(({} as Record<string, unknown>).polluted).toBeUndefined();
          expect(Object.getPrototypeOf(result.event.context)).toBe(Object.prototype);
        },
      ),
      { numRuns: 400 },
    );
    expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(before);
  });

  test('whatever code returns', () => {
    fc.assert(
      fc.property(json, json, (value, inner) => {
        const results: CodeResult['kind'][] = [];
        for (const one of [value, { ...anEvent(), properties: inner }, { ...anEvent(), context: value, user_id: inner }]) {
          const accepted = acceptReturned(one, anEvent());
          results.push(accepted.kind === 'failed' ? 'failed' : 'returned');
        }
        expect(results).toHaveLength(3);
      }),
      { numRuns: 300 },
    );
  });
});
