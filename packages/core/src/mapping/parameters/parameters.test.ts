import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureConfiguration } from '../../config/budget.ts';
import { compileTemplate } from '../../template/template.ts';
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

describe('a template that writes JSON', () => {
  const rendered = (payload_template: string, parameters: Record<string, string>) => {
    const { config } = substitute({ payload_template }, parameters, ['payload_template']);
    const template = compileTemplate(config.payload_template, 'json');
    const result = template.ok ? template.render({ event: 'A "B"', list: [1, 2] }) : template;
    if (!('text' in result)) throw new Error(JSON.stringify(result));
    return JSON.parse(result.text);
  };
  const parameters = {
    ODD: 'say "hi"\\\n{{event}}',
    QUOTE: '"',
    NUMBER: '12',
    JSON: '{"k":["v"]}',
    WHOLE: '{"name":"{{event}}"}',
    NAME: 'event',
  };
  test.each<[string, unknown]>([
    ['{"a":"{{pipeline_param.ODD}}"}', { a: 'say "hi"\\\nA "B"' }],
    ['{"a":"x{{ pipeline_param.ODD }}y","b":{{pipeline_param.NUMBER}}}', { a: 'xsay "hi"\\\nA "B"y', b: 12 }],
    ['{"a":{{pipeline_param.JSON}},"b":"{{pipeline_param.JSON}}"}', { a: { k: ['v'] }, b: '{"k":["v"]}' }],
    ['{{pipeline_param.WHOLE}}', { name: 'A "B"' }],
    ['{"{{pipeline_param.QUOTE}}":1}', { '"': 1 }],
    ['{"a":"\\"{{pipeline_param.QUOTE}}"}', { a: '""' }],
    ['{"a":{{#if list}}"{{pipeline_param.QUOTE}}"{{else}}{{pipeline_param.JSON}}{{/if}}}', { a: '"' }],
    ['{"a":{{#unless list}}"{{pipeline_param.QUOTE}}"{{else}}{{pipeline_param.JSON}}{{/unless}}}', { a: { k: ['v'] } }],
    ['[{{#each list}}"{{pipeline_param.QUOTE}}{{this}}"{{#unless @last}},{{/unless}}{{/each}}]', ['"1', '"2']],
    ['{"a":{{json {{pipeline_param.NAME}}}},"b":"{{pipeline_param.QUOTE}}"}', { a: 'A "B"', b: '"' }],
    ['{"a":"{{pipeline_param.NONE}}{{pipeline_param.QUOTE}}"}', { a: '{{pipeline_param.NONE}}"' }],
  ])('%s', (template, expected) => expect(rendered(template, parameters)).toEqual(expected));
  test('no value ends its string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (A) => {
        fc.pre(!A.includes('{{'));
        expect(JSON.stringify(rendered('{"a":"{{pipeline_param.A}}","b":1}', { A }))).toBe(JSON.stringify({ a: A, b: 1 }));
      }),
    );
  });
  test('other texts, and a template with a fault, get values as they are', () => {
    const quoted = '"{{pipeline_param.QUOTE}}"';
    const config = { url: quoted, payload_template: `{{#if ${quoted}`, nested: { payload_template: quoted } };
    expect(substitute(config, parameters, ['payload_template']).config).toEqual({
      url: '"""',
      payload_template: '{{#if """',
      nested: { payload_template: '"""' },
    });
  });
  test('the category parameters holds the same fields', () => {
    const config = { parameters: { payload_template: '"{{pipeline_param.QUOTE}}"', url: '"{{pipeline_param.QUOTE}}"' } };
    expect(substitute(config, parameters, ['payload_template']).config).toEqual({ parameters: { payload_template: '"\\""', url: '"""' } });
  });
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

test('parameters put at most 65,536 characters into a config: 4,800 placeholders of a long value filled the memory of the process', () => {
  const config = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`k${i}`, '{{pipeline_param.A}}'.repeat(600)]));
  const { config: made, excess } = substitute(config, { A: 'x'.repeat(700_000) });
  expect(excess).toContain('at most 65536 characters');
  expect(JSON.stringify(made).length).toBeLessThan(200_000);
  expect(substitute(config, { A: 'x'.repeat(10) }).excess).toBeUndefined();
});

test.each([
  ['template_tags', { payload_template: '{{pipeline_param.A}}'.repeat(6) }, '{{#if a}}{{/if}}'.repeat(600)],
  ['pattern_steps', { filters: Array.from({ length: 20 }, () => ({ op: 'matches', value: '{{pipeline_param.A}}' })) }, 'a{1000}b{1000}'],
])('a config exceeds the budget %s only with the values of its parameters', (budget, config, value) => {
  expect(measureConfiguration(config).ok).toBe(true);
  expect(substitute(config, { A: value }).excess).toContain(budget);
});
