import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const COOKIE = /^(?:GA\d\.\d+(?:-\d+)?\.)?(\d+\.\d+)$/;

export const gaClientId = defineTransform({
  name: 'ga_client_id',
  summary: 'The client id out of a `_ga` cookie: its last two parts. Other texts, such as an id of our own, pass unchanged.',
  cost: { value: 600, character: 16 },
  examples: [
    ['GA1.2.1234567890.1700000000', '1234567890.1700000000'],
    ['1234567890.1700000000', '1234567890.1700000000'],
    ['a3f1', 'a3f1'],
    ['', undefined],
  ],
  apply(value) {
    const text = textOf(value)?.trim();
    return (text && COOKIE.exec(text)?.[1]) || text || undefined;
  },
});
