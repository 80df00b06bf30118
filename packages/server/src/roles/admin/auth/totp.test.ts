import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  matchingStep,
  newRecoveryCodes,
  newTotpSecret,
  otpauthUrl,
  readTotpSecret,
  recoveryCodeHash,
  stepAt,
  toBase32,
  totpCode,
} from './totp.ts';

// RFC 6238, appendix B, SHA-1; its codes have eight digits, ours are their last six.
test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('at second %i the code of the RFC is %s', (seconds, code) => {
  expect(totpCode(Buffer.from('12345678901234567890'), stepAt(seconds * 1000))).toBe(code);
});

test('a code is good for its own step and the ones around it', () => {
  const secret = Buffer.from('12345678901234567890');
  const now = 1_800_000_000_000;
  const step = stepAt(now);
  const accepted = [-2, -1, 0, 1, 2].map((around) => matchingStep(secret, totpCode(secret, step + around), now));
  expect(accepted).toEqual([undefined, step - 1, step, step + 1, undefined]);
});

test.each(['', '12345', '1234567', 'abcdef', ' 123456', '１２３４５６'])('%j is no code', (code) => {
  expect(matchingStep(Buffer.from('12345678901234567890'), code, 0)).toBeUndefined();
});

test('base32 round trip', () => {
  expect(toBase32(Buffer.from('foobar'))).toBe('MZXW6YTBOI');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      expect(readTotpSecret(toBase32(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => (readTotpSecret(text)?.length ?? 20) === 20));
});

test('the address for the QR code names the account and the secret', () => {
  const secret = newTotpSecret();
  const url = new URL(otpauthUrl('ada+x@example.com', secret));
  expect(decodeURIComponent(url.href)).toContain('otpauth://totp/Firsthand:ada+x@example.com?');
  expect(Object.fromEntries(url.searchParams)).toEqual({ secret, issuer: 'Firsthand', algorithm: 'SHA1', digits: '6', period: '30' });
});

test('recovery codes are read however people write them, and belong to one user', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(recoveryCodeHash('usr_1', code.toUpperCase().replaceAll('-', ' '))).toBe(recoveryCodeHash('usr_1', code));
    expect(recoveryCodeHash('usr_2', code)).not.toBe(recoveryCodeHash('usr_1', code));
  }
});
