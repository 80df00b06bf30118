import fc from 'fast-check';
import { expect, test } from 'vitest';
import { coerceTo } from './coerce.ts';
import { substitute } from './substitute.ts';

test('placeholders are replaced in every text, and only there', () => {
  const config = {
    id: '{{pipeline_param.ID}}',
    url: 'https://{{ pipeline_param.HOST }}/{{pipeline_param.ID}}?x={{pipeline_param.NONE}}',
    list: ['{{pipeline_param.ID}}', 1, null, true],
    nested: { '{{pipeline_param.ID}}': '{{event}} {{pipeline_param.NONE}}' },
  };
  const before = structuredClone(config);
  expect(substitute(config, { ID: '42', HOST: 'a.example' })).toEqual({
    config: {
      id: '42',
      url: 'https://a.example/42?x={{pipeline_param.NONE}}',
      list: ['42', 1, null, true],
      nested: { '{{pipeline_param.ID}}': '{{event}} {{pipeline_param.NONE}}' },
    },
    missing: ['NONE'],
  });
  expect(config).toEqual(before);
});

test('values are put in as they are', () => {
  const parameters = { A: '{{pipeline_param.B}}', B: "$& $1 $'", C: 'x' };
  const { config } = substitute({ a: '{{pipeline_param.A}}', b: '{{pipeline_param.B}}' }, parameters);
  expect(config).toEqual({ a: '{{pipeline_param.B}}', b: "$& $1 $'" });
});

test('inherited names are no parameters', () => {
  expect(substitute({ a: '{{pipeline_param.constructor}}{{pipeline_param.__proto__}}' }, {}).missing).toEqual(['constructor', '__proto__']);
});

test('a config without placeholders comes back equal, keys such as __proto__ included', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.jsonValue()), (config) => {
      expect(JSON.stringify(substitute(config as never, {}).config)).toBe(JSON.stringify(config));
    }),
  );
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test.each([
  ['number', '12.5', 12.5],
  ['number', 'x', 'x'],
  ['number', 7, 7],
  ['boolean', 'true', true],
  ['boolean', ' False ', false],
  ['boolean', 'yes', 'yes'],
  ['string', '12', '12'],
  ['select', 'eu', 'eu'],
] as const)('%s from %j', (type, value, expected) => expect(coerceTo(type, value)).toBe(expected));
