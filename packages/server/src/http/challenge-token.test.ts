import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { issueChallengeToken, verifyChallengeToken } from './challenge-token.ts';

const key = randomBytes(32);
const END = 1_800_000_000_000;
const token = issueChallengeToken(key, 'pl_1', END);

test.each([
  ['good', token, 'pl_1', END - 1, true],
  ['expired', token, 'pl_1', END, false],
  ["another pipeline's", token, 'pl_2', END - 1, false],
  ['lengthened', token.replace(END.toString(36), (END + 1e9).toString(36)), 'pl_1', END + 1, false],
  ['signed with another key', issueChallengeToken(randomBytes(32), 'pl_1', END), 'pl_1', END - 1, false],
  ['missing', undefined, 'pl_1', END - 1, false],
  ['no text', { token }, 'pl_1', END - 1, false],
  ['empty', '', 'pl_1', END - 1, false],
])('a token that is %s', (_name, given, pipeline, now, good) => {
  expect(verifyChallengeToken(key, given, pipeline, now)).toBe(good);
});

test('of several texts that decode to the same bytes only the issued one passes', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const passing = [...alphabet]
    .map((last) => token.slice(0, -1) + last)
    .filter((given) => verifyChallengeToken(key, given, 'pl_1', END - 1));
  expect(passing).toEqual([token]);
});

test('no other text passes', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat(token.length - 1).map((at) => `${token.slice(0, at)}_${token.slice(at + 1)}`),
      ),
      (given) => {
        expect(given === token || !verifyChallengeToken(key, given, 'pl_1', END - 1)).toBe(true);
      },
    ),
  );
});
