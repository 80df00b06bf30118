import { expect, test } from 'vitest';
import { generatePassword, MIN_PASSWORD } from './passwords.ts';

test('a generated password has no sign that a command line takes for an option or a separator, and no second like it', () => {
  const passwords = Array.from({ length: 500 }, generatePassword);
  for (const password of passwords) expect(password).toMatch(/^[A-Za-z2-9]+$/);
  expect(passwords[0]!.length).toBeGreaterThanOrEqual(MIN_PASSWORD);
  expect(new Set(passwords).size).toBe(passwords.length);
});
