import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const urlEncode = defineTransform({
  name: 'url_encode',
  summary: 'A text made safe for one part of a URL.',
  grows: true,
  cost: { value: 100, character: 8 },
  examples: [
    ['a b&c', 'a%20b%26c'],
    ['\ud800', '%EF%BF%BD'],
  ],
  apply: (value) => {
    const text = textOf(value);
    // Half a surrogate pair cannot be encoded. It becomes the replacement character, as in every UTF-8 encoder.
    return text === undefined ? undefined : encodeURIComponent(text.toWellFormed());
  },
});
