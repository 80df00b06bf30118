import type { Json, JsonObject } from '@firsthand/core/json.ts';
import { finish } from '@firsthand/core/steps.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSecrets, type Path, pathText } from './mask.ts';
import { restoreMaskedInSteps } from './restore-masked.ts';

const listIn = (config: JsonObject, name: string) => (config[name] ?? []) as Json[];
const secretsIn = (config: JsonObject): Path[] => [
  ...listIn(config, 'rules').map((_, row) => ['rules', row, 'token']),
  ...listIn(config, 'tokens').map((_, at) => ['tokens', at]),
];
const masked = (config: JsonObject) => maskSecrets(config, secretsIn(config));
const restored = (sent: JsonObject, stored: JsonObject) => {
  const { config, unknown } = finish(restoreMaskedInSteps(sent, stored, secretsIn(sent)));
  return { config, unknown: unknown.map(pathText) };
};

/** The masks of short secrets are all the same: only the row tells whose it is. */
const A = { event: 'A', rule: 1, token: 'short-a' };
const B = { event: 'B', rule: 2, token: 'short-b' };
const C = { event: 'C', rule: 3, token: 'a-long-secret-c' };
const stored = { rules: [A, B, C] };
const shown = (...rows: JsonObject[]) => masked({ rules: rows });

describe('secrets in table rows', () => {
  test.each([
    ['unchanged', [A, B, C]],
    ['reordered', [C, B, A]],
    ['the first deleted', [B, C]],
    ['the middle deleted', [A, C]],
    ['the last deleted, the others swapped', [B, A]],
  ])('%s: each row keeps its own', (_name, rows) => {
    expect(restored(shown(...rows), stored)).toEqual({ config: { rules: rows }, unknown: [] });
  });

  test('hundreds of changed rows are not compared with one another, which held the loop for 450 ms; unchanged ones keep their own', () => {
    const rows = Array.from({ length: 200 }, (_, i) => ({ event: `E${i}`, token: `a-long-secret-${i}` }));
    expect(restored(shown(...rows), { rules: rows })).toEqual({ config: { rules: rows }, unknown: [] });
    const renamed = rows.map((row) => ({ ...row, event: `${row.event} renamed` }));
    expect(restored(shown(...renamed), { rules: rows }).unknown).toHaveLength(200);
    expect(restored(shown(renamed[0]!, ...rows.slice(1)), { rules: rows }).unknown).toEqual([]);
  });

  test('a row is edited while another is deleted', () => {
    const edited = { ...B, rule: 9 };
    expect(restored(shown(edited, C), stored)).toEqual({ config: { rules: [edited, C] }, unknown: [] });
  });

  test('a row whose mask fits one secret only may be renamed', () => {
    const renamed = { ...C, event: 'D' };
    expect(restored(shown(renamed), stored)).toEqual({ config: { rules: [renamed] }, unknown: [] });
  });

  test('a new row before the others, with a secret of its own', () => {
    const added = { event: 'N', rule: 7, token: 'new' };
    const sent = { rules: [added, ...listIn(shown(A, B), 'rules')] };
    expect(restored(sent, stored)).toEqual({ config: { rules: [added, A, B] }, unknown: [] });
  });

  test('where it is not clear whose mask it is, nobody gets a secret', () => {
    const sent = { rules: [{ event: 'X', rule: 8, token: '••••' }] };
    expect(restored(sent, stored)).toEqual({ config: sent, unknown: ['rules[0].token'] });
  });

  test('a copied row does not copy its secret', () => {
    const copy = { ...C, event: 'D' };
    const { unknown } = restored(shown(A, B, C, copy), stored);
    expect(unknown).toEqual(['rules[3].token']);
  });

  test('rows that differ in nothing but the secret: kept in order, refused once one is gone', () => {
    const twins = {
      rules: [
        { ...A, token: 'one' },
        { ...A, token: 'two' },
      ],
    };
    expect(restored(masked(twins), twins)).toEqual({ config: twins, unknown: [] });
    expect(restored(shown(A), twins).unknown).toEqual(['rules[0].token']);
  });

  test('a list of secrets', () => {
    const tokens = { tokens: ['first-secret-1111', 'second-secret-2222', 'short', 'tiny'] };
    const reversed = { tokens: [...tokens.tokens].slice(0, 2).reverse() };
    expect(restored(masked(tokens), tokens)).toEqual({ config: tokens, unknown: [] });
    expect(restored(masked(reversed), tokens)).toEqual({ config: reversed, unknown: [] });
    expect(restored({ tokens: ['••••'] }, tokens).unknown).toEqual(['tokens[0]']);
  });

  test('a long list is compared in one step for each element', () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ event: `E${n}`, token: 'short' }));
    expect(restored(shown(...rows.toReversed()), { rules: rows })).toEqual({ config: { rules: rows.toReversed() }, unknown: [] });
    const renamed = rows.map((row) => ({ ...row, event: `${row.event} renamed` }));
    const steps = restoreMaskedInSteps(shown(...renamed), { rules: rows }, secretsIn({ rules: renamed }));
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBe(2 * rows.length);
  });

  test('the names of headers in one row are not looked for in every other: 500 rows with ten each took 5,000,000 steps', () => {
    const readsOf = (length: number) => {
      let reads = 0;
      const counted = (of: JsonObject) =>
        new Proxy(of, {
          get: (...args) => [reads++, Reflect.get(...args)][1],
          getOwnPropertyDescriptor: (...args) => [reads++, Reflect.getOwnPropertyDescriptor(...args)][1] as PropertyDescriptor | undefined,
        });
      const names = Array.from({ length }, (_, n) => `x-key-${n}`);
      const rows = names.map((name) => ({ headers: { [name]: `a-long-secret-${name}` } }));
      const secrets = names.map((name, row) => ['rules', row, 'headers', name]);
      const sent = maskSecrets({ rules: rows }, secrets);
      const stored = { rules: rows.map(({ headers }) => ({ headers: counted(headers) })) };
      expect(finish(restoreMaskedInSteps(sent, stored, secrets)).unknown).toEqual([]);
      return reads;
    };
    expect(readsOf(40)).toBe(2 * readsOf(20));
  });

  test('masks in lists of lists without end are unknown instead of compared at each level', () => {
    const nested = (depth: number): [JsonObject, Path] => {
      let value: JsonObject = { token: 'a-long-secret' };
      const path: (string | number)[] = ['token'];
      for (let level = 0; level < depth; level++) {
        value = { list: [value] };
        path.unshift('list', 0);
      }
      return [value, path];
    };
    const unknownAt = (depth: number) => {
      const [config, path] = nested(depth);
      return finish(restoreMaskedInSteps(maskSecrets(config, [path]), config, [path])).unknown.length;
    };
    expect([unknownAt(4), unknownAt(5)]).toEqual([0, 1]);
  });
});

test('no order and no selection of rows moves a secret to another row', () => {
  const row = fc.record({ event: fc.string({ minLength: 1 }), rule: fc.nat(3), token: fc.string({ minLength: 1, maxLength: 20 }) });
  const table = fc.uniqueArray(row, { minLength: 1, maxLength: 8, selector: ({ event }) => event });
  const chosen = table.chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows)));
  fc.assert(
    fc.property(chosen, ([rows, kept]) => {
      // A secret that reads like a mask cannot be told from one.
      fc.pre(rows.every(({ token }) => !token.startsWith('••••')));
      expect(restored(shown(...kept), { rules: rows })).toEqual({ config: { rules: kept }, unknown: [] });
    }),
  );
});
