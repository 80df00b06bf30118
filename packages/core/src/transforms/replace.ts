import { compilePattern } from '../filter/pattern.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const replace = defineTransform({
  name: 'replace',
  summary:
    'Every match of a regular expression (RE2) replaced; `$1` stands for a group. A text that is too long for a large pattern is missing.',
  args: [
    { name: 'pattern', type: 'string', summary: 'RE2 syntax' },
    { name: 'replacement', type: 'string', default: '', summary: 'what stands there instead' },
  ],
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
  return {
    ok: true,
    apply(value) {
      const text = textOf(value);
      return text === undefined ? undefined : compiled.regexp.replaceAll(text, replacement);
    },
  };
}
