import { describe, expect, test } from 'vitest';
import { DEFAULT_DATA_LAYER } from '../config/resources.ts';
import { compileOrganisation, mergeDataLayer, validateDataLayer } from './compiled.ts';

describe('valid and invalid sections', () => {
  const good: unknown[] = [
    {},
    DEFAULT_DATA_LAYER,
    { consent: { mapping: { C0002: 'analytics' }, default: { analytics: false }, honour_gpc: false } },
    {
      pii_rules: {
        ip: 'truncate',
        fields: [{ path: 'traits.*', action: 'hash' }],
        detect: ['email', 'iban'],
        detect_action: 'drop',
        url_params: ['token'],
      },
    },
    { session: { timeout_minutes: 0.5 } },
    { routing_rules: [{ condition: { all: [{ field: 'event', op: 'exists' }] }, action: 'pass', pipeline_ids: ['pl_1'] }] },
    { custom_js: { enabled: false, code: '' } },
  ];
  test.each(good)('%j', (config) => expect(validateDataLayer(config)).toEqual([]));

  const bad: [config: unknown, fields: string[]][] = [
    [null, ['']],
    [[], ['']],
    [{ consents: {} }, ['consents']],
    [{ consent: { mapping: { a: 'Analytics' } } }, ['consent.mapping.a']],
    [
      { consent: { mapping: [], default: { analytics: 'yes' }, honour_gpc: 1 } },
      ['consent.mapping', 'consent.default.analytics', 'consent.honour_gpc'],
    ],
    [JSON.parse('{"consent":{"mapping":{"__proto__":"analytics"}}}'), ['consent.mapping.__proto__']],
    [{ bot_filtering: { action: 'block' } }, ['bot_filtering.action']],
    [{ bot_filtering: { custom_patterns: ['('] } }, ['bot_filtering.custom_patterns[0]']],
    [
      { pii_rules: { ip: 'mask', detect: ['name'], fields: [{ path: 'traits.x' }] } },
      ['pii_rules.ip', 'pii_rules.fields[0].action', 'pii_rules.detect[0]'],
    ],
    [{ pii_rules: { fields: [{ path: 'event_id', action: 'drop' }] } }, ['pii_rules.fields[0].path']],
    [{ session: { timeout_minutes: 0 } }, ['session.timeout_minutes']],
    [{ session: { timeout_minutes: '30' } }, ['session.timeout_minutes']],
    [{ identity: { remember_traits: 'email' } }, ['identity.remember_traits']],
    [{ custom_js: { enabled: true, code: ' ' } }, ['custom_js.code']],
    [{ routing_rules: [{ action: 'drop' }] }, ['routing_rules[0].condition']],
    [{ routing_rules: [{ condition: { field: 'a', op: 'like', value: 1 }, action: 'drop' }] }, ['routing_rules[0].condition.op']],
    [{ routing_rules: {} }, ['routing_rules']],
  ];
  test.each(bad)('%j', (config, fields) =>
    expect(
      validateDataLayer(config)
        .map(({ field }) => field)
        .sort(),
    ).toEqual(fields.sort()));
});

test('sections that are absent, and keys absent from a section, take their defaults', () => {
  const merged = mergeDataLayer({ consent: { honour_gpc: false } as never, session: { timeout_minutes: 5 } });
  expect(merged).toEqual({
    ...DEFAULT_DATA_LAYER,
    consent: { ...DEFAULT_DATA_LAYER.consent, honour_gpc: false },
    session: { timeout_minutes: 5 },
  });
  merged.consent.mapping.x = 'analytics';
  expect(DEFAULT_DATA_LAYER.consent.mapping).not.toHaveProperty('x');
});

test('an invalid rule is disabled, and the others work', () => {
  const { ok, organisation, faults } = compileOrganisation({
    bot_filtering: { action: 'drop', block_empty_user_agent: true, custom_patterns: ['(', 'x'] },
    session: { timeout_minutes: -1 },
    routing_rules: [
      { condition: { nonsense: 1 } as never, action: 'drop' },
      { condition: { field: 'event', op: 'exists' }, action: 'pass' },
    ],
  });
  expect(ok).toBe(false);
  expect(faults.length).toBeGreaterThanOrEqual(3);
  expect(organisation.bots).toMatchObject({ action: 'drop', patterns: { length: 1 } });
  expect(organisation.session_timeout_ms).toBe(30 * 60_000);
  expect(organisation.routing).toHaveLength(1);
});
