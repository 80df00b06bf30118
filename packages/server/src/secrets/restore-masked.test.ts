import type { Json, JsonObject } from '@firsthand/core/json.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSecrets, type Path, pathText, secretsIn } from './mask.ts';
import { restoreMasked } from './restore-masked.ts';

const isSecret = (path: Path) => path.at(-1) === 'token' || (path[0] === 'tokens' && path.length === 2);
const masked = (config: JsonObject) =>
  maskSecrets(
    config,
    secretsIn(config, isSecret).map(({ path }) => path),
  );
const restored = (sent: JsonObject, stored: JsonObject) => {
  const { config, unknown } = restoreMasked(sent, stored, isSecret);
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
    const sent = { rules: [added, ...(shown(A, B).rules as Json[])] };
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

  test('a huge list is refused instead of compared', () => {
    const rows = Array.from({ length: 600 }, (_, n) => ({ event: `E${n}`, token: 'short' }));
    expect(restored(shown(...rows), { rules: rows }).unknown).toHaveLength(600);
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
