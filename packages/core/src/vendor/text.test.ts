import { expect, test } from 'vitest';
import { compileText, itemKey, renderText } from './text.ts';

const parameters = { id: 'a/b c', url: 'https://x.example/p?q=1', prefix: 'a b/c/' };
const sources = { event: { user_id: 'ü/1', properties: { a: { b: 3 } } }, payload: { id: 'p' }, lane: { k: 'l' }, request: { id: 'r' } };

test.each([
  ['https://h.example/{{parameters.id}}', true, 'https://h.example/a%2Fb%20c'],
  ['{{parameters.url}}', true, 'https://x.example/p?q=1'],
  ['https://h.example/{{parameters.prefix | path}}x', true, 'https://h.example/a%20b/c/x'],
  ['https://h.example/{{event.user_id}}', true, 'https://h.example/%C3%BC%2F1'],
  ['{{event.properties.a.b}}-{{payload.id}}-{{lane.k}}-{{request.id}}', false, '3-p-l-r'],
  ['{{parameters.none}}{{event.none.deeper}}', false, ''],
  ['{{event.__proto__}}{{event.constructor}}{{parameters.toString}}', false, ''],
  ['{{pipeline_param.X}}', false, '{{pipeline_param.X}}'],
  ['{{other.thing}}', false, '{{other.thing}}'],
])('%s', (text, url, expected) => {
  expect(renderText(compileText(text, parameters, { url }), sources)).toBe(expected);
});

test('a text without event references is constant', () => {
  expect(compileText('a{{parameters.id}}b', parameters).constant).toBe('aa/b cb');
  expect(compileText('{{event.user_id}}', parameters)).toMatchObject({ constant: undefined, per_item: true });
  expect(compileText('{{request.id}}', parameters)).toMatchObject({ constant: undefined, per_item: false });
});

test('a lone surrogate in a URL does not throw', () => {
  expect(renderText(compileText('https://h.example/{{event.x}}', {}, { url: true }), { event: { x: '\ud800' } })).toBe(
    'https://h.example/%EF%BF%BD',
  );
});

test('items are kept apart by what they refer to', () => {
  const text = compileText('https://h.example/{{event.user_id}}/{{request.id}}', {}, { url: true });
  expect(itemKey(text, { event: { user_id: 'a' } })).not.toBe(itemKey(text, { event: { user_id: 'b' } }));
});
