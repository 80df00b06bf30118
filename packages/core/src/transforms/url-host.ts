import { defineTransform } from './define.ts';
import { parseUrl } from './values.ts';

export const urlHost = defineTransform({
  name: 'url_host',
  summary: 'The host of a URL, with its port where one is given.',
  cost: { value: 600, character: 4 },
  examples: [
    ['https://shop.example:8443/a?b=1', 'shop.example:8443'],
    ['/a/b', undefined],
  ],
  apply: (value) => parseUrl(value)?.host || undefined,
});
