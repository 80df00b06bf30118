import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCipher, WrongSecretKey } from './cipher.ts';
import { adoptNextKey, secretKeyCandidates, writeNextKey } from './secret-key.ts';

const cipher = createCipher('the key of this installation');
const org = { id: 'org_1', data_key: cipher.newDataKey('org_1') };

test('sealing round-trips, differs every time, and reveals nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 8 }), (text) => {
      const sealed = cipher.sealText(org, text);
      expect(cipher.openText(org, sealed)).toBe(text);
      expect(cipher.sealText(org, text)).not.toBe(sealed);
      expect(sealed.includes(text)).toBe(false);
    }),
  );
});

test.each<[string, (sealed: string) => unknown]>([
  ['another organisation', (sealed) => cipher.openText({ id: 'org_2', data_key: cipher.newDataKey('org_2') }, sealed)],
  ["another organisation with this one's data key", (sealed) => cipher.openText({ ...org, id: 'org_2' }, sealed)],
  ['another SECRET_KEY', (sealed) => createCipher('the key of another place').openText(org, sealed)],
  ['a changed text', (sealed) => cipher.openText(org, `${sealed.slice(0, -2)}AA`)],
  ['a cut text', (sealed) => cipher.openText(org, sealed.slice(0, 12))],
  ['no sealed text', () => cipher.openText(org, 'hello')],
])('%s opens nothing', (_name, open) => {
  expect(() => open(cipher.sealText(org, 'a secret'))).toThrow(WrongSecretKey);
});

test('a new SECRET_KEY rewraps the data key and keeps sealed values readable', () => {
  const sealed = cipher.sealText(org, 'a secret');
  const next = createCipher('the next key of this installation');
  const rewrapped = { id: org.id, data_key: cipher.rewrap(org, next) };
  expect(next.openText(rewrapped, sealed)).toBe('a secret');
  expect([next.opens(org), cipher.opens(rewrapped)]).toEqual([false, false]);
});

test('the key file is made once, private, and a rotation that broke off leaves both keys to try', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-key-'));
  try {
    const [made] = secretKeyCandidates({ secretKey: undefined, dataDir });
    expect(secretKeyCandidates({ secretKey: undefined, dataDir })).toEqual([made]);
    expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600);
    expect(secretKeyCandidates({ secretKey: 'from the environment', dataDir })).toEqual(['from the environment']);
    writeNextKey(dataDir, 'the next key, long enough');
    expect(secretKeyCandidates({ secretKey: undefined, dataDir })).toEqual([made, 'the next key, long enough']);
    adoptNextKey(dataDir);
    expect(readFileSync(join(dataDir, 'secret-key'), 'utf8').trim()).toBe('the next key, long enough');
    writeFileSync(join(dataDir, 'secret-key'), 'short');
    expect(() => secretKeyCandidates({ secretKey: undefined, dataDir })).toThrow(/16 characters/);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
