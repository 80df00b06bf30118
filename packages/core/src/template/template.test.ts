import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTemplate } from './template.ts';

const event = {
  event: 'Order "Completed"\n',
  properties: { total: 12.5, zero: 0, no: false, list: [], products: [{ id: 'a', q: 1 }, { id: 'b' }], name: 'x', odd: { 'a b': 1 } },
  traits: { email: 'a@b.c' },
};

function render(text: string, mode: 'json' | 'text' = 'text', context: unknown = event): string {
  const compiled = compileTemplate(text, mode, { roots: { parameters: { id: 'P1' } } });
  if (!compiled.ok) return `fault: ${compiled.message}`;
  const rendered = compiled.render(context);
  return rendered.ok ? rendered.text : `failed: ${rendered.reason}`;
}

describe('text', () => {
  test.each([
    ['{{properties.total}}|{{missing.a.b}}|{{properties.no}}|{{properties.zero}}', '12.5||false|0'],
    ['{{event}}', 'Order "Completed"\n'],
    ['{{this.traits.email}} {{./traits.email}} {{traits/email}}', 'a@b.c a@b.c a@b.c'],
    ['{{#if properties.total}}yes{{else}}no{{/if}}', 'yes'],
    ['{{#if properties.zero}}yes{{else}}no{{/if}}', 'no'],
    ['{{#if properties.zero includeZero=true}}yes{{else}}no{{/if}}', 'yes'],
    ['{{#if properties.list}}yes{{else if traits}}traits{{/if}}', 'traits'],
    ['{{#unless missing}}none{{/unless}}', 'none'],
    ['{{#each properties.products}}{{@index}}:{{id}}{{#unless @last}},{{/unless}}{{/each}}', '0:a,1:b'],
    ['{{#each properties.products as |p i|}}{{i}}={{p.id}};{{/each}}', '0=a;1=b;'],
    ['{{#each traits}}{{@key}}={{this}}{{/each}}', 'email=a@b.c'],
    ['{{#each missing}}x{{else}}empty{{/each}}', 'empty'],
    ['{{#with properties}}{{name}} {{../traits.email}} {{@root.event}}{{/with}}', 'x a@b.c Order "Completed"\n'],
    ['{{lookup properties "name"}} {{lookup properties.products 1}}', 'x {"id":"b"}'],
    ['{{#each properties.products}}{{#if (lookup this "q")}}{{id}}{{/if}}{{/each}}', 'a'],
    ['{{json properties.products}} {{json missing}}', '[{"id":"a","q":1},{"id":"b"}] null'],
    ['a{{! comment }}b{{!-- {{x}} --}}c', 'abc'],
    ['a  {{~ properties.name ~}}  b', 'axb'],
    ['{{properties.products.length}} {{properties.products.[0].id}} {{properties.odd.[a b]}}', '2 a 1'],
    ['{{constructor}}{{properties.toString}}{{__proto__}}{{properties.products.map}}', ''],
    ['customers/{{parameters.id}}', 'customers/P1'],
    ['\\{{raw}}', '{{raw}}'],
    ['a {{pipeline_param.KEY}} {{event}}', 'a {{pipeline_param.KEY}} Order "Completed"\n'],
  ])('%s', (text, expected) => expect(render(text)).toBe(expected));
});

describe('JSON', () => {
  test.each([
    ['{"e":"{{event}}"}', { e: event.event }],
    ['{"t":{{properties.total}},"m":"{{missing}}"}', { t: 12.5, m: '' }],
    ['{"p":{{{json properties}}}}', { p: event.properties }],
    ['{"p":{{json properties}}}', { p: event.properties }],
    ['{"p":{{properties.products}}}', { p: event.properties.products }],
    ['{"p":"{{json properties}}"}', { p: JSON.stringify(event.properties) }],
    ['{"p":"{{{json properties}}}"}', { p: JSON.stringify(event.properties) }],
    ['{"p":"{{properties.products}}"}', { p: JSON.stringify(event.properties.products) }],
    ['[{{#each properties.products}}"{{id}}"{{#unless @last}},{{/unless}}{{/each}}]', ['a', 'b']],
    ['{"m":{{{json missing}}}}', { m: null }],
    ['{"a\\"b":"{{event}}"}', { 'a"b': event.event }],
  ])('%s', (text, expected) => expect(JSON.parse(render(text, 'json'))).toEqual(expected));

  test('a value never breaks out of its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
        const context = { text, value };
        const body = JSON.parse(render('{"a":"{{text}}","b":{{{json value}}},"c":"{{value}}","d":"{{{text}}}"}', 'json', context));
        expect(body.a).toBe(text.toWellFormed() === text ? text : body.a);
        expect(body.d).toBe(body.a);
        expect(body.b).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

test.each([
  ['{{#if a}}', /not closed/],
  ['{{> partial}}', /Partials/],
  ['{{upper name}}', /no helper "upper"/],
  ['{{#list a}}{{/list}}', /no block "list"/],
  ['{{@level}}', /no @level/],
  ['{{lookup a}}', /takes 2 values/],
  ['{{#each}}x{{/each}}', /takes one value/],
  [`${'{{#if a}}'.repeat(40)}${'{{/if}}'.repeat(40)}`, /nested/],
])('%s is refused', (text, message) => expect(render(text)).toMatch(message));

test('output and loops are bounded', () => {
  const long = { list: Array.from({ length: 2_000 }, () => 'x'.repeat(1_000)) };
  expect(render('{{#each list}}{{this}}{{/each}}', 'text', long)).toMatch(/^failed: The rendered text/);
  const many = { list: Array.from({ length: 1_000 }, () => 1) };
  expect(render('{{#each list}}{{#each ../list}}{{/each}}{{/each}}', 'text', many)).toMatch(/^failed: The template's loops/);
});

test('no text makes the compiler throw, no context the template', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{{{',
    '}}}',
    '#if ',
    '/if',
    '#each ',
    '/each',
    'else',
    'a',
    '.',
    '../',
    '@index',
    ' ',
    '"',
    '~',
    '!',
    'json ',
    '(',
    ')',
    '__proto__',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue(), (pieces, context) => {
      const compiled = compileTemplate(pieces.join(''), 'json');
      if (compiled.ok) compiled.render(context);
    }),
  );
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
