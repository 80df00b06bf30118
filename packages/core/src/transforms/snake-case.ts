import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const snakeCase = defineTransform({
  name: 'snake_case',
  summary: 'A text in lower case with an underscore between words.',
  cost: { value: 200, character: 16 },
  examples: [
    ['Order Completed', 'order_completed'],
    ['checkoutStarted', 'checkout_started'],
    ['HTTPServer 2', 'http_server_2'],
    ['--', undefined],
  ],
  apply: (value) => snake(textOf(value)),
});

export function snake(text: string | undefined): string | undefined {
  return (
    text
      ?.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
      .replace(/^_+|(?<!_)_+$/g, '')
      .toLowerCase() || undefined
  );
}
