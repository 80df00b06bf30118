import { sha256Hex } from '../hash/hash.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const stableClientId = defineTransform({
  name: 'stable_client_id',
  summary:
    'Any id as two numbers in the form of a Google Analytics client id. The same id always gives the same numbers, so a user whose browser is unknown stays one client.',
  cost: { value: 2_000, character: 8 },
  examples: [
    ['user-1', '3334638052.2661025202'],
    [{}, undefined],
  ],
  apply(value) {
    const text = textOf(value);
    if (!text) return undefined;
    const hex = sha256Hex(text);
    return `${Number.parseInt(hex.slice(0, 8), 16)}.${Number.parseInt(hex.slice(8, 16), 16)}`;
  },
});
