import { readFileSync } from 'node:fs';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { compileVendor, validateConfig } from '@firsthand/core/vendor/compile.ts';
import { definitionFaults } from '@firsthand/core/vendor/define.ts';
import type { Group } from '@firsthand/core/vendor/definition.ts';
import { describe, expect, test } from 'vitest';
import { CATEGORIES, catalogEntry, catalogListEntry, loadCases, loadVendor, loadVendors, searchVendors, VENDOR_KEYS } from '../index.ts';
import { REFUSED_CONFIGS } from './custom_http/cases.ts';
import customHttp from './custom_http/vendor.ts';
import { containedIn } from './shared/cases.ts';
import {
  answersWithoutCase,
  dropsWithoutCase,
  hashesWithoutCase,
  namesWithoutCase,
  rulesWithoutCase,
  temporaryAnswersOf,
  temporaryStepsOf,
} from './shared/coverage.ts';
import { compileCase, completeConfig, requestsFor, verdictFor } from './shared/run-case.ts';
import { bare, everything } from './shared/sample-events.ts';
import { COMMERCE_EVENTS } from './shared/standard-events.ts';

const production = { mode: 'production', allow_private: false } as const;
const decoder = new TextDecoder();
const VENDORS = await loadVendors();
const VENDOR_CASES = await Promise.all(
  VENDOR_KEYS.map(async (key) => (await loadCases(key)) ?? { vendor: undefined, cases: [], answers: [] }),
);

test('every vendor has cases', () => {
  expect(VENDOR_CASES.filter(({ vendor }) => vendor).map(({ vendor }) => vendor?.key)).toEqual(VENDORS.map(({ key }) => key));
  expect(VENDOR_CASES.filter(({ cases }) => cases.length === 0)).toEqual([]);
});

test('the catalog finds, lists and searches', async () => {
  expect((await loadVendor('meta_conversions_api'))?.name).toBe('Meta Conversions API');
  expect(await loadVendor('__proto__')).toBeUndefined();
  expect(CATEGORIES).toEqual(['advertising', 'analytics', 'attribution', 'cdp', 'cloud_storage', 'other']);
  const keys = async (query: Parameters<typeof searchVendors>[0]) => (await searchVendors(query)).map(({ key }) => key);
  expect(await searchVendors({}), 'the index is fresh').toEqual(VENDORS.map(catalogListEntry));
  expect(await keys({ search: 'META' })).toContain('meta_conversions_api');
  expect(await keys({ category: 'cloud_storage' })).toContain('amazon_s3');
  const beta = VENDORS.filter(({ status }) => status === 'beta').map(({ key }) => key);
  expect(await keys({ status: 'beta' })).toEqual(beta);
});

test.each(REFUSED_CONFIGS)('custom_http refuses %j', (config, field) => {
  const { invalid } = validateConfig(customHttp, { ...completeConfig(customHttp), ...config }, production);
  expect(invalid.map((fault) => fault.field)).toEqual([field]);
});

test('custom_http takes placeholders wherever a value stands', () => {
  const config = {
    url: 'https://{{pipeline_param.HOST}}/x',
    request: { method: '{{pipeline_param.M}}', batch: { max_items: '{{pipeline_param.N}}' } },
  };
  expect(validateConfig(customHttp, config, production)).toEqual({ missing: [], invalid: [] });
});

test('the example in the documentation is accepted', () => {
  const text = readFileSync(new URL('../../../../docs/reference/vendors.md', import.meta.url), 'utf8');
  const example = JSON.parse(/```json\n([\s\S]+?)```/.exec(text)?.[1] ?? '') as JsonObject;
  expect(validateConfig(customHttp, example, production)).toEqual({ missing: [], invalid: [] });
});

describe.each(VENDORS.map((vendor) => [vendor.key, vendor] as const))('%s', (key, vendor) => {
  test('is sound data', () => {
    expect(definitionFaults(vendor)).toEqual([]);
    expect(JSON.parse(JSON.stringify(vendor))).toEqual(vendor);
  });

  const own = VENDOR_CASES.find((one) => one.vendor === vendor) ?? { cases: [], answers: [] };
  const cases = [...own.cases, ...temporaryStepsOf({ vendor, cases: own.cases })];
  const answers = [...own.answers, ...temporaryAnswersOf({ vendor, cases: own.cases })];

  test.skipIf(vendor.group === 'storage_and_streams')('its cases cover names, drops and answers', () => {
    expect(namesWithoutCase(vendor, { cases })).toEqual([]);
    expect(dropsWithoutCase(vendor, { cases })).toEqual([]);
    expect(answersWithoutCase(vendor, { vendor, cases, answers })).toEqual([]);
  });
  test('every answer rule and every hash has a case', () => {
    expect(rulesWithoutCase(vendor, { vendor, cases, answers })).toEqual([]);
    expect(hashesWithoutCase(vendor, { cases })).toEqual([]);
  });

  test('its catalog entry has the fields that the console shows', () => {
    const entry = catalogEntry(vendor);
    for (const field of entry.config_fields) expect(field.label && field.placeholder && field.help_text).toBeTruthy();
    if (!vendor.transport) expect(entry.config_fields.map((field) => field.key)).toContain('endpoint');
    expect(entry.setup_steps.length).toBeGreaterThan(0);
    expect(vendor.status === 'ga' || (vendor.notes ?? []).length > 0).toBe(true);
  });

  test.each(vendor.variants.map((variant) => variant.key))('variant %s: incomplete until its required fields are given', (variant) => {
    const required = vendor.config_fields.filter((field) => field.required).map((field) => field.key);
    const bareVariant = vendor.variants.find((one) => one.key === variant)?.default_config ?? {};
    const { missing, invalid } = validateConfig(vendor, bareVariant, production);
    expect(invalid).toEqual([]);
    expect(missing.map((fault) => fault.field)).toEqual(expect.arrayContaining(required));
    const given = completeConfig(vendor, variant);
    expect(validateConfig(vendor, given, production)).toEqual({ missing: [], invalid: [] });
    expect(compileVendor(vendor, given, production)).toMatchObject({ ok: true });
  });

  test('each placeholder passes, alone and as text', () => {
    for (const field of vendor.config_fields) {
      const { invalid } = validateConfig(vendor, completeConfig(vendor, 'default', { [field.key]: field.placeholder }), production);
      expect([field.key, invalid]).toEqual([field.key, []]);
    }
  });

  test('a config that was read back, its secrets masked, can still be compiled', () => {
    const masked = Object.fromEntries(vendor.config_fields.filter(({ type }) => type === 'secret').map((field) => [field.key, '••••abcd']));
    const headers: JsonObject = vendor.config_fields.some((field) => field.key === 'headers')
      ? { headers: { Authorization: '••••abcd' } }
      : {};
    const auth: JsonObject = key === 'webhook' ? { authentication: 'bearer' } : {};
    const compiled = compileCase(vendor, 'default', { ...masked, ...headers, ...auth });
    const { requests } = requestsFor(compiled, cases[0]?.event ?? bare(''));
    for (const request of requests) for (const value of Object.values(request.headers)) expect(value).toMatch(/^[\t\x20-\x7e]*$/);
  });

  test('any field takes a pipeline parameter at save time, also under parameters', () => {
    const placeholders = Object.fromEntries(vendor.config_fields.map((field) => [field.key, '{{pipeline_param.X}}']));
    const { default_config } = vendor.variants[0]!;
    expect(validateConfig(vendor, { ...default_config, ...placeholders }, production)).toEqual({ missing: [], invalid: [] });
    expect(validateConfig(vendor, { ...default_config, parameters: placeholders }, production)).toEqual({ missing: [], invalid: [] });
  });

  test.skipIf(vendor.transport)('the endpoint replaces scheme and host, the token endpoint’s too', () => {
    // A vendor may send nothing before the customer has chosen events or ids.
    const one = cases.find((some) => some.requests && !some.variant && !some.config) ?? cases.find((some) => some.requests);
    const compiled = compileCase(vendor, one?.variant, { ...one?.config, endpoint: 'https://proxy.example.net:8443' });
    const event = one?.event ?? bare('');
    const { requests } = requestsFor(compiled, event);
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) expect(request.url).toMatch(/^https:\/\/proxy\.example\.net:8443\//);
    const built = compiled.build(event, { now: 0 });
    const plan = built.kind === 'items' ? compiled.token?.(built.items) : undefined;
    expect(plan === undefined).toBe(compiled.token === undefined);
    if (plan) expect(plan.token_url).toMatch(/^https:\/\/proxy\.example\.net:8443\//);
  });

  test('an empty event does not throw', () => {
    const compiled = compileCase(vendor);
    for (const name of [...COMMERCE_EVENTS, '__proto__', '']) expect(() => requestsFor(compiled, bare(name))).not.toThrow();
  });

  const WITH_BLUEPRINTS: readonly Group[] = ['advertising', 'affiliate', 'analytics', 'attribution', 'engagement'];
  test.runIf(WITH_BLUEPRINTS.includes(vendor.group))('has a blueprint per vertical, or says why one is enough', () => {
    const keys = vendor.variants.map((variant) => variant.key);
    if (keys.length === 1) return expect(vendor.notes?.filter((note) => note.startsWith('One blueprint: '))).toHaveLength(1);
    expect(keys.slice(0, 5)).toEqual(['default', 'retail', 'travel', 'media', 'saas']);
    const [first, ...others] = vendor.variants;
    for (const { default_config } of others.slice(0, 4)) {
      const names = Object.keys(default_config.events as JsonObject);
      expect(names.filter((name) => !Object.hasOwn(first?.default_config.events as JsonObject, name))).toEqual([]);
    }
  });

  test.skipIf(vendor.group === 'storage_and_streams')('says where its events show up', () => {
    expect(vendor.see_it).toMatch(/^[A-Z].{20,}\.$/);
  });

  const retail = vendor.variants.find((variant) => variant.key === 'retail')?.default_config.events;
  if (isObject(retail)) {
    test('retail covers the whole e-commerce event set, and default covers retail', () => {
      expect(COMMERCE_EVENTS.filter((name) => !Object.hasOwn(retail, name))).toEqual([]);
      expect(vendor.variants[0]?.default_config.events).toMatchObject(retail);
    });
    test('default sends every e-commerce event exactly as retail does', () => {
      const sent = (variant: string, name: string) => {
        const { built, requests } = requestsFor(compileCase(vendor, variant), everything(name));
        return built.kind === 'items' ? requests : built;
      };
      for (const name of COMMERCE_EVENTS) expect([name, sent('default', name)]).toEqual([name, sent('retail', name)]);
    });
  }

  test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const { built, requests, records, verdict } = requestsFor(compileCase(vendor, one.variant, one.config), one.event, one);
    if (one.dropped !== undefined) return expect(built).toEqual({ kind: 'dropped', reason: one.dropped });
    if (one.failed !== undefined) {
      expect(built.kind === 'failed' ? built.reason : built.kind).toMatch(new RegExp(`^${one.failed}`));
      return;
    }
    expect(built.kind).toBe('items');
    if (one.records) return expect(records).toEqual(one.records);
    if (one.verdict) expect(verdict).toMatchObject(one.verdict);
    expect(requests).toHaveLength(one.requests?.length ?? -1);
    one.requests?.forEach((expected, index) => {
      const request = requests[index]!;
      if (expected.method) expect(request.method).toBe(expected.method);
      if (expected.url) expect(request.url).toBe(expected.url);
      if (expected.headers) expect(request.headers).toMatchObject(expected.headers);
      if (!expected.headers?.['User-Agent']) expect(request.headers['User-Agent']).toMatch(/^Firsthand\//);
      const text = request.body instanceof Uint8Array ? decoder.decode(request.body) : request.body;
      if (expected.contains) expect(containedIn({ url: request.url, body: text }, expected.contains)).toEqual(expected.contains);
      if ('body' in expected)
        expect(typeof expected.body === 'string' || text === undefined ? text : JSON.parse(text)).toEqual(expected.body);
    });
  });
  test.each(answers.map((one) => [one.name, one] as const))('answer: %s', (_name, one) => {
    expect(verdictFor(vendor, one)).toMatchObject(one.verdict);
  });
});
