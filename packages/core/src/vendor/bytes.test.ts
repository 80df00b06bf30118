import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Length } from './bytes.ts';

test('the length of a text is that of its bytes, whatever stands where it is divided', () => {
  const around = fc.integer({ min: 16_376, max: 16_388 });
  const wide = fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00');
  fc.assert(
    fc.property(around, fc.array(wide, { maxLength: 20 }), around, (before, chars, after) => {
      const text = 'x'.repeat(before) + chars.join('') + 'y'.repeat(after) + chars.join('');
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
    { numRuns: 300 },
  );
  expect(utf8Length('')).toBe(0);
});
