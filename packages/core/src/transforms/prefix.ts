import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const prefix = defineTransform({
  name: 'prefix',
  summary: 'A text with another before it.',
  args: [{ name: 'text', type: 'string', summary: 'what goes before' }],
  grows: true,
  examples: [
    ['1', 'id_1', 'id_'],
    [null, undefined, 'id_'],
  ],
  apply(value, [before]) {
    const text = textOf(value);
    return text === undefined ? undefined : `${textOf(before) ?? ''}${text}`;
  },
});
