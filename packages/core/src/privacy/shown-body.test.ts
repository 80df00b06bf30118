import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type DataLayerConfig, DEFAULT_DATA_LAYER } from '../config/resources.ts';
import { compilePii } from './pii.ts';
import { shownBody } from './shown-body.ts';

type Rules = Partial<DataLayerConfig['pii_rules']>;
const shown = (body: unknown, rules: Rules = {}) => shownBody(body, compilePii({ ...DEFAULT_DATA_LAYER.pii_rules, ...rules }, []));
const digest = hash('sha256', 'ada@shop.example', 'hex');

test('without rules everything is shown but keys and tokens', () => {
  const body = { type: 'track', event: 'E', messageId: 'm', extra: { a: 1 }, context: { ip: '203.0.113.7', page: { url: 'https://a/' } } };
  expect(shown({ ...body, writeKey: 'pk_1', context: { ...body.context, challenge_token: 't' } })).toEqual(body);
  const event = { ...body, writeKey: 'pk_1', context: { ...body.context, challenge_token: 't' } };
  expect(shown({ writeKey: 'pk_1', batch: [event, 'x', event] })).toEqual({ batch: [body, 'x', body] });
});

const CASES: [name: string, rules: Rules, body: object, expected: object][] = [
  [
    'a hashed trait',
    { fields: [{ path: 'traits.email', action: 'hash' }] },
    { type: 'identify', userId: 'u', traits: { email: 'Ada@shop.example', plan: 'pro' } },
    { type: 'identify', userId: 'u', traits: { email: digest, plan: 'pro' } },
  ],
  [
    'traits that came in the context',
    { fields: [{ path: 'traits.email', action: 'drop' }] },
    { event: 'E', context: { locale: 'de', traits: { email: 'ada@shop.example' } } },
    { event: 'E', context: { locale: 'de', traits: {} } },
  ],
  [
    'traits that came in the context, beside null',
    { fields: [{ path: 'traits.email', action: 'drop' }] },
    { event: 'E', traits: null, context: { traits: { email: 'ada@shop.example' } } },
    { event: 'E', context: { traits: {} } },
  ],
  [
    'ids, which have other names in the event',
    {
      fields: [
        { path: 'user_id', action: 'hash' },
        { path: 'anonymous_id', action: 'redact' },
      ],
    },
    { event: 'E', userId: 'ada@shop.example', anonymousId: 'a1', groupId: 'g' },
    { event: 'E', userId: digest, anonymousId: '[redacted]', groupId: 'g' },
  ],
  [
    'the user agent, likewise',
    { fields: [{ path: 'context.user_agent', action: 'redact' }] },
    { event: 'E', context: { userAgent: 'UA' } },
    { event: 'E', context: { userAgent: '[redacted]' } },
  ],
  ['the address', { ip: 'truncate' }, { event: 'E', context: { ip: '203.0.113.77' } }, { event: 'E', context: { ip: '203.0.113.0' } }],
  [
    'findings in texts',
    { detect: ['email'], detect_action: 'redact' },
    { event: 'Mail ada@shop.example', properties: { note: 'to ada@shop.example' } },
    { event: 'Mail [redacted]', properties: { note: 'to [redacted]' } },
  ],
  ['parameters', { url_params: ['token'] }, { properties: { url: 'https://a/?token=1&x=2' } }, { properties: { url: 'https://a/?x=2' } }],
  [
    'fields that no rule can name',
    { ip: 'drop' },
    { event: 'E', previousId: 'ada@shop.example', email: 'ada@shop.example' },
    { event: 'E' },
  ],
];
test.each(CASES)('under rules: %s', (_name, rules, body, expected) => {
  expect(shown(structuredClone(body), rules)).toEqual(expected);
});

test('a body that is not an object is not shown', () => {
  expect([shown(null), shown([1]), shown('x')]).toEqual([null, null, null]);
});
