import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const suffix = defineTransform({
  name: 'suffix',
  summary: 'A text with another after it.',
  args: [{ name: 'text', type: 'string', summary: 'what goes after' }],
  grows: true,
  examples: [
    [5, '5 %', ' %'],
    [null, undefined, '!'],
  ],
  apply(value, [after]) {
    const text = textOf(value);
    return text === undefined ? undefined : `${text}${textOf(after) ?? ''}`;
  },
});
