import type { JsonObject } from '@firsthand/core/json.ts';
import { finish } from '@firsthand/core/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinSecrets, maskSecrets, pathText, splitSecrets } from './mask.ts';
import { restoreMaskedInSteps } from './restore-masked.ts';

/** As core names them for a config that has them all. */
const SECRETS = ['access_token', 'auth_token', 'parameters.access_token', 'headers.X-Key', 'headers.X-Token', 'parameters.headers.X-Token'];
const PLACES = SECRETS.map((name) => name.split('.'));
const restored = (sent: JsonObject, stored: JsonObject) => finish(restoreMaskedInSteps(sent, stored, PLACES));

describe('masks', () => {
  test.each<[unknown, unknown]>([
    ['twelve chars', '••••hars'],
    ['a much longer secret', '••••cret'],
    ['eleven char', '••••'],
    ['x', '••••'],
    ['', ''],
    [null, null],
    [12345, '••••'],
    [{ private_key: 'k' }, '••••'],
    ['{{pipeline_param.TOKEN}}', '{{pipeline_param.TOKEN}}'],
    [' {{ pipeline_param.TOKEN }} ', ' {{ pipeline_param.TOKEN }} '],
    ['{{parameters.api_key}}', '{{parameters.api_key}}'],
    ['{{event.user_id}}', '••••id}}'],
    ['Bearer {{pipeline_param.TOKEN}}', '••••EN}}'],
  ])('%j reads back as %j', (secret, mask) => {
    const config = { access_token: secret } as JsonObject;
    expect(maskSecrets(config, PLACES)).toEqual({ access_token: mask });
  });

  test('written back keep what is stored; anything else replaces it; a mask of nothing is named', () => {
    const stored = { access_token: 'a much longer secret', headers: { 'X-Key': 'short' }, pixel_id: '1' };
    const shown = maskSecrets(stored, PLACES);
    expect(restored(shown, stored)).toEqual({ config: stored, unknown: [] });
    expect(restored({ ...shown, access_token: 'new' }, stored).config).toEqual({ ...stored, access_token: 'new' });
    const strange = restored({ access_token: '••••else', auth_token: '••••' }, stored);
    expect(strange.unknown.map(pathText)).toEqual(['access_token', 'auth_token']);
    expect(restored({ pixel_id: '••••' }, stored), 'no secret, no mask').toEqual({
      config: { pixel_id: '••••' },
      unknown: [],
    });
  });
});

const configs = fc.dictionary(
  fc.oneof(fc.constantFrom('access_token', 'auth_token', 'headers', 'parameters', '__proto__', 'constructor'), fc.string()),
  fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.dictionary(fc.constantFrom('X-Token', 'Accept', 'access_token', 'headers', '__proto__'), fc.jsonValue({ maxDepth: 1 })),
  ),
) as fc.Arbitrary<JsonObject>;

test('taking secrets out and putting them back changes nothing, and leaves none behind', () => {
  fc.assert(
    fc.property(configs, (config) => {
      // As it arrives and as it is stored: through JSON.
      const sent = JSON.parse(JSON.stringify(config)) as JsonObject;
      const { open, secrets } = splitSecrets(sent, PLACES);
      for (const { path, value } of secrets) {
        expect(value).not.toBeNull();
        expect(SECRETS).toContain(path.join('.'));
      }
      const stored = JSON.parse(JSON.stringify(open)) as JsonObject;
      expect(JSON.stringify(joinSecrets(stored, secrets))).toBe(JSON.stringify(sent));
    }),
  );
});

test('a masked config written back is the stored one', () => {
  fc.assert(
    fc.property(configs, (config) => {
      const stored = JSON.parse(JSON.stringify(config)) as JsonObject;
      const { config: kept, unknown } = restored(maskSecrets(stored, PLACES), stored);
      expect(unknown).toEqual([]);
      expect(JSON.stringify(kept)).toBe(JSON.stringify(stored));
    }),
  );
});

test('what is not secret is not copied: a config may have thousands of mappings', () => {
  const config = { url: 'u', auth_token: 'secret', headers: { 'X-Key': 'k', Accept: 'a' }, events: { A: { mappings: [{ source: 'a' }] } } };
  const shown = maskSecrets(config, PLACES);
  expect(shown).toEqual({ ...config, auth_token: '••••', headers: { 'X-Key': '••••', Accept: 'a' } });
  expect(shown.events).toBe(config.events);
  expect(config.auth_token).toBe('secret');
});

test('paths that a value lacks change nothing, and list positions are numbers', () => {
  const config = { rules: [{ token: 'a-secret-of-a-row' }], other: 1 };
  const paths = [
    ['rules', '0', 'token'],
    ['rules', '1', 'token'],
    ['rules', 'length'],
    ['rules', 'map', 'name'],
    ['toString'],
    ['other', 'a'],
  ];
  const { open, secrets } = splitSecrets(config, paths);
  expect(secrets).toEqual([{ path: ['rules', 0, 'token'], value: 'a-secret-of-a-row' }]);
  expect(open).toEqual({ rules: [{ token: null }], other: 1 });
  expect(joinSecrets(open, secrets)).toEqual(config);
});
