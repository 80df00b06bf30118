import { compilePattern } from '../filter/pattern.ts';
import { MAX_TEXT } from '../value-size.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

/** If every character matched, the result could have this length. It is cut off before it is made. */
const MAX_REPLACED = 16 * MAX_TEXT;

export const replace = defineTransform({
  name: 'replace',
  summary:
    'Every match of a regular expression (RE2) replaced; `$1` stands for a group. A text that is too long for a large pattern is missing, and an event in which more than 40,000 characters are searched is not mapped.',
  args: [
    { name: 'pattern', type: 'string', summary: 'RE2 syntax' },
    { name: 'replacement', type: 'string', default: '', summary: 'what stands there instead' },
  ],
  grows: true,
  cost: { value: 400, character: 200 },
  examples: [
    ['a-b-c', 'abc', '-'],
    ['2024-05', '05/2024', '(\\d+)-(\\d+)', '$2/$1'],
    [{}, undefined, 'a'],
  ],
  apply(value, args) {
    const prepared = prepareReplace(args);
    return prepared.ok ? prepared.apply(value) : undefined;
  },
  prepare: prepareReplace,
});

function prepareReplace(args: readonly unknown[]): ReturnType<NonNullable<import('./define.ts').Transform['prepare']>> {
  const compiled = compilePattern(textOf(args[0]) ?? '');
  if (!compiled.ok) return compiled;
  const replacement = textOf(args[1]) ?? '';
  const references = replacement.split('$').length;
  return {
    ok: true,
    apply(value) {
      const text = textOf(value);
      if (text === undefined || text.length * references + (text.length + 1) * replacement.length > MAX_REPLACED) return undefined;
      return compiled.regexp.replaceAll(text, replacement);
    },
  };
}
