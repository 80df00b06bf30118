import { readFileSync } from 'node:fs';
import type { JsonObject } from '@firsthand/core/json.ts';
import { compileVendor, validateConfig } from '@firsthand/core/vendor/compile.ts';
import { definitionFaults } from '@firsthand/core/vendor/define.ts';
import { describe, expect, test } from 'vitest';
import { CATEGORIES, catalogEntry, findVendor, searchVendors } from '../index.ts';
import { VENDOR_CASES } from './cases.ts';
import { REFUSED_CONFIGS } from './custom_http/cases.ts';
import { VENDORS } from './index.ts';
import { compileCase, completeConfig, requestsFor, verdictFor } from './shared/run-case.ts';
import { bare } from './shared/sample-events.ts';
import { COMMERCE_EVENTS } from './shared/standard-events.ts';

const EVENT_VENDORS = ['google_analytics_4', 'meta_conversions_api', 'tiktok_events_api', 'amplitude', 'braze', 'google_ads'];
const production = { mode: 'production', allow_private: false } as const;
const decoder = new TextDecoder();

test('every vendor has cases', () => {
  expect(VENDOR_CASES.map(({ vendor }) => vendor.key)).toEqual(VENDORS.map(({ key }) => key));
  expect(VENDOR_CASES.filter(({ cases }) => cases.length === 0)).toEqual([]);
});

test('the catalog finds, shows and searches', () => {
  expect(findVendor('meta_conversions_api')?.name).toBe('Meta Conversions API');
  expect(findVendor('__proto__')).toBeUndefined();
  expect(CATEGORIES).toEqual(['advertising', 'analytics', 'attribution', 'cdp', 'cloud_storage', 'other']);
  expect(searchVendors({ search: 'META' }).map(({ key }) => key)).toContain('meta_conversions_api');
  expect(searchVendors({ category: 'cloud_storage' }).map(({ key }) => key)).toEqual(['amazon_s3']);
  expect(searchVendors({ status: 'beta' }).map(({ key }) => key)).toEqual(['google_ads', 'hubspot']);
});

test.each(REFUSED_CONFIGS)('custom_http refuses %j', (config, field) => {
  const { invalid } = validateConfig(findVendor('custom_http')!, { ...completeConfig(findVendor('custom_http')!), ...config }, production);
  expect(invalid.map((fault) => fault.field)).toEqual([field]);
});

test('custom_http takes placeholders wherever a value stands', () => {
  const config = {
    url: 'https://{{pipeline_param.HOST}}/x',
    request: { method: '{{pipeline_param.M}}', batch: { max_items: '{{pipeline_param.N}}' } },
  };
  expect(validateConfig(findVendor('custom_http')!, config, production)).toEqual({ missing: [], invalid: [] });
});

test('the example in the documentation is accepted', () => {
  const text = readFileSync(new URL('../../../../docs/reference/vendors.md', import.meta.url), 'utf8');
  const example = JSON.parse(/```json\n([\s\S]+?)```/.exec(text)?.[1] ?? '') as JsonObject;
  expect(validateConfig(findVendor('custom_http')!, example, production)).toEqual({ missing: [], invalid: [] });
  for (const { key } of VENDORS) expect(text).toContain(`\`${key}\``);
});

describe.each(VENDORS.map((vendor) => [vendor.key, vendor] as const))('%s', (key, vendor) => {
  test('is sound data', () => {
    expect(definitionFaults(vendor)).toEqual([]);
    expect(JSON.parse(JSON.stringify(vendor))).toEqual(vendor);
  });

  test('its catalog entry shows fields of the five types, each with label, placeholder and help', () => {
    const entry = catalogEntry(vendor);
    expect(Object.keys(entry)).toEqual(['key', 'name', 'description', 'category', 'status', 'website', 'config_fields', 'variants']);
    for (const field of entry.config_fields) {
      expect(['string', 'secret', 'select', 'boolean', 'number']).toContain(field.type);
      expect(field.label && field.placeholder && field.help_text).toBeTruthy();
    }
    expect(entry.config_fields.map((field) => field.key)).toContain(vendor.transport ? 'url' : 'endpoint');
  });

  test.each(vendor.variants.map((variant) => variant.key))('variant %s: incomplete until its required fields are given', (variant) => {
    const required = vendor.config_fields.filter((field) => field.required).map((field) => field.key);
    const bareVariant = vendor.variants.find((one) => one.key === variant)?.default_config ?? {};
    const { missing, invalid } = validateConfig(vendor, bareVariant, production);
    expect(invalid).toEqual([]);
    expect(missing.map((fault) => fault.field)).toEqual(expect.arrayContaining(required));
    const given = completeConfig(vendor, variant, variant === 'google_ads_api' ? { developer_token: 'token' } : {});
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
    const { requests } = requestsFor(compiled, VENDOR_CASES.find((one) => one.vendor === vendor)!.cases[0]!.event);
    for (const request of requests) for (const value of Object.values(request.headers)) expect(value).toMatch(/^[\t\x20-\x7e]*$/);
  });

  test('any field takes a pipeline parameter at save time, also under parameters', () => {
    const placeholders = Object.fromEntries(vendor.config_fields.map((field) => [field.key, '{{pipeline_param.X}}']));
    const { default_config } = vendor.variants[0]!;
    expect(validateConfig(vendor, { ...default_config, ...placeholders }, production)).toEqual({ missing: [], invalid: [] });
    expect(validateConfig(vendor, { ...default_config, parameters: placeholders }, production)).toEqual({ missing: [], invalid: [] });
  });

  test.skipIf(vendor.transport)('the endpoint replaces scheme and host, the token endpoint’s too', () => {
    const compiled = compileCase(vendor, 'default', { endpoint: 'https://proxy.example.net:8443' });
    const event = VENDOR_CASES.find((one) => one.vendor === vendor)!.cases.find(
      (one) => one.requests && !one.variant && !one.config,
    )!.event;
    const { requests } = requestsFor(compiled, event);
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) expect(request.url).toMatch(/^https:\/\/proxy\.example\.net:8443\//);
    const built = compiled.build(event, { now: 0 });
    const plan = built.kind === 'items' ? compiled.token?.(built.items) : undefined;
    expect(plan === undefined).toBe(compiled.token === undefined);
    if (plan) expect(plan.token_url).toMatch(/^https:\/\/proxy\.example\.net:8443\//);
  });

  test('an event that says nothing throws nothing', () => {
    const compiled = compileCase(vendor);
    for (const name of [...COMMERCE_EVENTS, '__proto__', '']) expect(() => requestsFor(compiled, bare(name))).not.toThrow();
  });

  if (EVENT_VENDORS.includes(key)) {
    test('retail covers the whole e-commerce event set', () => {
      const events = vendor.variants.find((variant) => variant.key === 'retail')?.default_config.events as object;
      expect(COMMERCE_EVENTS.filter((name) => !(name in events))).toEqual([]);
    });
  }

  const { cases, answers } = VENDOR_CASES.find((one) => one.vendor === vendor) ?? { cases: [], answers: [] };
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    const { built, requests, records } = requestsFor(compileCase(vendor, one.variant, one.config), one.event, one.replies);
    if (one.dropped !== undefined) return expect(built).toEqual({ kind: 'dropped', reason: one.dropped });
    if (one.failed !== undefined) {
      expect(built.kind === 'failed' ? built.reason : built.kind).toMatch(new RegExp(`^${one.failed}`));
      return;
    }
    expect(built.kind).toBe('items');
    if (one.records) return expect(records).toEqual(one.records);
    expect(requests).toHaveLength(one.requests?.length ?? -1);
    one.requests?.forEach((expected, index) => {
      const request = requests[index]!;
      if (expected.method) expect(request.method).toBe(expected.method);
      if (expected.url) expect(request.url).toBe(expected.url);
      if (expected.headers) expect(request.headers).toMatchObject(expected.headers);
      expect(request.headers['User-Agent']).toMatch(/^Firsthand\//);
      const text = request.body instanceof Uint8Array ? decoder.decode(request.body) : request.body;
      if ('body' in expected)
        expect(typeof expected.body === 'string' || text === undefined ? text : JSON.parse(text)).toEqual(expected.body);
    });
  });
  test.each(answers.map((one) => [one.name, one] as const))('answer: %s', (_name, one) => {
    const verdict = verdictFor(compileCase(vendor, one.variant, one.config), one);
    expect(verdict).toMatchObject(one.verdict);
  });
});
