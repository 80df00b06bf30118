import { defineTransform } from './define.ts';
export const jsonParse = defineTransform({
  name: 'json_parse',
  summary: 'The value that a JSON text stands for; other texts are missing.',
  cost: { value: 1_500, character: 8 },
  examples: [
    ['{"a":1}', { a: 1 }],
    ['{', undefined],
    [7, undefined],
  ],
  apply(value) {
    if (typeof value !== 'string') return undefined;
    try {
      return JSON.parse(value) ?? undefined;
    } catch {
      return undefined;
    }
  },
});
