import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmacSha1, hmacSha256, md5Hex, sha256Hex, toBase64, toHex } from './hash.ts';

test('every digest is the one Node computes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, key) => {
      const bytes = Buffer.from(text.toWellFormed());
      expect(sha256Hex(text)).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(md5Hex(text)).toBe(createHash('md5').update(bytes).digest('hex'));
      expect(toHex(hmacSha256(key, text))).toBe(createHmac('sha256', key).update(bytes).digest('hex'));
      expect(toBase64(hmacSha1(key, text))).toBe(createHmac('sha1', key).update(bytes).digest('base64'));
    }),
    { numRuns: 50 },
  );
});
