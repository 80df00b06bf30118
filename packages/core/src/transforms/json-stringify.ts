import { defineTransform } from './define.ts';
export const jsonStringify = defineTransform({
  name: 'json_stringify',
  summary: 'The value as JSON text.',
  takes: 'list',
  grows: true,
  cost: { character: 2 },
  examples: [
    [{ a: [1] }, '{"a":[1]}'],
    ['a', '"a"'],
    [null, undefined],
  ],
  apply: (value) => writeJson(value),
});

/** Events are at most 64 levels deep, but a value built by other means may be too deep or not valid JSON. */
export function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
