import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createCipher } from './cipher.ts';
import { openVault } from './vault.ts';

const KEY = 'the key of this installation';
const stored = [{ id: 'org_1', data_key: createCipher(KEY).newDataKey('org_1') }];

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-vault-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the first start makes a key, later starts find it', () => {
  const dataDir = emptyFolder();
  const { secretKey } = openVault([], { secretKey: undefined, dataDir });
  expect(openVault([], { secretKey: undefined, dataDir }).secretKey).toBe(secretKey);
});

test('a lost key file is named, and no new key takes its place', () => {
  const dataDir = emptyFolder();
  expect(() => openVault(stored, { secretKey: undefined, dataDir })).toThrow(
    `SECRET_KEY: the key of this installation is not in ${dataDir}: restore the file secret-key from a backup`,
  );
  expect(existsSync(join(dataDir, 'secret-key'))).toBe(false);
  expect(openVault(stored, { secretKey: KEY, dataDir }).secretKey).toBe(KEY);
});

test('a wrong key is named by where it came from', () => {
  const dataDir = emptyFolder();
  expect(() => openVault(stored, { secretKey: 'the key of another place', dataDir })).toThrow(/^SECRET_KEY: is not the key/);
  writeFileSync(join(dataDir, 'secret-key'), 'the key of another place');
  expect(() => openVault(stored, { secretKey: undefined, dataDir })).toThrow(`SECRET_KEY: the key in ${dataDir} is not the one`);
});
