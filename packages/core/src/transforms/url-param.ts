import { defineTransform } from './define.ts';
import { parseUrl, textOf } from './values.ts';

export const urlParam = defineTransform({
  name: 'url_param',
  summary: 'One query parameter of a URL.',
  args: [{ name: 'name', type: 'string', summary: 'the parameter' }],
  cost: { value: 600, character: 8 },
  examples: [
    ['https://shop.example/?gclid=Cj0&x=1', 'Cj0', 'gclid'],
    ['https://shop.example/', undefined, 'gclid'],
    [12, undefined, 'gclid'],
  ],
  apply: (value, [name]) => parseUrl(value)?.searchParams.get(textOf(name) ?? '') || undefined,
});
