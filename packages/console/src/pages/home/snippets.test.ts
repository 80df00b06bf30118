import { expect, test } from 'vitest';
import { type SnippetsOf, snippets } from './snippets.ts';

const OF: SnippetsOf = {
  ingestUrl: 'https://in.shop.example',
  key: 'pk_1',
  tag: '<script src="https://in.shop.example/x.js"></script>',
  globalVariable: 'shop',
};
const text = (key: string, of = OF) => snippets(of).find((one) => one.key === key)?.text;

test.each(['npm', 'curl', 'node', 'python'])('the snippet for %s sends to the address of the collection endpoint with the key', (key) => {
  expect(text(key)).toContain('https://in.shop.example');
  expect(text(key)).toContain('pk_1');
});
test.each(['html', 'npm', 'curl', 'node', 'python'])('the order of %s has the consent that every vendor of the catalog may need', (key) => {
  for (const category of ['analytics', 'marketing', 'advertising']) expect(text(key)).toContain(category);
});
test('the snippet for websites uses the name that the script has in the page', () => {
  expect(text('html')).toContain('window.shop = window.shop || [];');
});
test('there is none for websites before the script is built', () => {
  expect(text('html', { ...OF, tag: undefined })).toBeUndefined();
});
