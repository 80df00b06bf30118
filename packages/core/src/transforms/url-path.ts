import { defineTransform } from './define.ts';
import { parseUrl } from './values.ts';

export const urlPath = defineTransform({
  name: 'url_path',
  summary: 'The path of a URL.',
  cost: { value: 600, character: 4 },
  examples: [
    ['https://shop.example/a/b?c=1#d', '/a/b'],
    ['shop', undefined],
  ],
  apply: (value) => parseUrl(value)?.pathname || undefined,
});
