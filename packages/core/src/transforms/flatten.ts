import { isObject, put } from '../json.ts';
import { MAX_TEXT } from '../value-size.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const flatten = defineTransform({
  name: 'flatten',
  summary: 'An object in one level, its names joined; a list of lists as one list. Lists inside an object stay as they are.',
  takes: 'list',
  args: [{ name: 'separator', type: 'string', default: '.', summary: 'what joins two names' }],
  cost: { character: 0 },
  examples: [
    [
      { a: { b: 1 }, c: [1] },
      { 'a.b': 1, c: [1] },
    ],
    [{ a: { b: 1 } }, { a_b: 1 }, '_'],
    [
      [1, [2, [3]]],
      [1, 2, 3],
    ],
    ['a', 'a'],
  ],
  apply(value, [separator]) {
    if (Array.isArray(value)) return value.flat(MAX_DEPTH);
    if (!isObject(value)) return value;
    const out: Record<string, unknown> = {};
    return collect(value, '', textOf(separator) ?? '.', out, 0, { chars: 0 }) ? out : undefined;
  },
});

const MAX_DEPTH = 64;

/** False if the names together are too long: each has those of all levels above it. */
function collect(
  value: Record<string, unknown>,
  before: string,
  separator: string,
  out: Record<string, unknown>,
  depth: number,
  names: { chars: number },
): boolean {
  for (const key of Object.keys(value)) {
    const inner = value[key];
    names.chars += before.length;
    if (names.chars > MAX_TEXT) return false;
    if (isObject(inner) && depth < MAX_DEPTH) {
      if (!collect(inner, `${before}${key}${separator}`, separator, out, depth + 1, names)) return false;
    } else put(out, `${before}${key}`, inner);
  }
  return true;
}
