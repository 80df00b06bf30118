import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigFault } from '../vendor/compiled.ts';
import { compileTransforms } from './compile.ts';
import { COUNTRY_ALPHA3, countryNames } from './countries.ts';
import { TRANSFORMS } from './index.ts';

function run(name: string, value: unknown, args: unknown[] = [], event: unknown = {}): unknown {
  const faults: ConfigFault[] = [];
  const apply = compileTransforms([{ name, args }], 'transforms', faults);
  expect(faults).toEqual([]);
  return apply!(value, event);
}

describe.each([...TRANSFORMS.values()].map((transform) => [transform.name, transform] as const))('%s', (name, transform) => {
  test.each(transform.examples.map(([input, output, ...args]) => ({ input, output, args })))('$input → $output', ({
    input,
    output,
    args,
  }) => {
    expect(run(name, input, args)).toEqual(output);
  });
  test('missing and null stay missing', () => {
    const args = transform.examples[0]!.slice(2);
    expect([run(name, undefined, args), run(name, null, args)]).toEqual([undefined, undefined]);
  });
  test('no value makes it throw, none is changed, and the result is the same twice', () => {
    const args = transform.examples[0]!.slice(2);
    const odd = fc.oneof(fc.jsonValue(), fc.anything(), fc.constant({ toString: 1, valueOf: null }), fc.constant(Object.create(null)));
    fc.assert(
      fc.property(odd, (value) => {
        const before = structuredSafe(value);
        const result = run(name, value, args);
        expect(run(name, value, args)).toEqual(result);
        expect(structuredSafe(value)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });
});

function structuredSafe(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    return 'not cloneable';
  }
}

test.each([
  ['add', [1], 1714564800123458],
  ['multiply', [2], 3429129600246914],
  ['round', [2], 1714564800123457],
])('%s keeps the last digit of whole numbers of 16 digits, such as microseconds', (name, args, expected) => {
  expect(run(name, 1714564800123457, args)).toBe(expected);
});

test('every transform file is in the list', () => {
  const here = new URL('.', import.meta.url);
  const defined = readdirSync(here)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(new URL(file, here), 'utf8').matchAll(/(?:defineTransform\(\{\s*name: |= arithmetic\(\s*)'([a-z0-9_]+)'/g)].map(
        (match) => match[1],
      ),
    );
  expect([...TRANSFORMS.keys()].sort()).toEqual(defined.sort());
});

test('arguments may be read from the event', () => {
  expect(run('multiply', 3, [{ source: 'properties.quantity' }], { properties: { quantity: 4 } })).toBe(12);
  expect(run('prefix', 'x', [{ source: 'user_id' }], {})).toBe('x');
});

test.each([
  ['to_lower', 'transforms[0]', 'There is no transform "to_lower".'],
  [{ name: 'multiply' }, 'transforms[0].args[0]', 'multiply needs the argument by: the factor.'],
  [{ name: 'multiply', args: ['x'] }, 'transforms[0].args[0]', 'by must be a number: the factor.'],
  [{ name: 'trim', args: [1] }, 'transforms[0].args', 'trim takes no arguments.'],
  [{ name: 'trim', arg: 1 }, 'transforms[0].arg', 'There is no such key in a transform.'],
  [{ name: 'prefix', args: [{ source: 'a..b' }] }, 'transforms[0].args[0].source', 'Position 3: a name is missing.'],
  [7, 'transforms[0]', 'A transform is a name, or {name, args}.'],
])('%j is refused', (use, field, message) => {
  const faults: ConfigFault[] = [];
  compileTransforms([use], 'transforms', faults);
  expect(faults).toEqual([{ field, message }]);
});

test('a pattern that RE2 does not support is rejected', () => {
  const faults: ConfigFault[] = [];
  compileTransforms([{ name: 'replace', args: ['(?=a)'] }], 't', faults);
  expect(faults[0]?.field).toBe('t[0].args[0]');
});

test('every country of the table has a name, and there are 249', () => {
  expect(COUNTRY_ALPHA3.size).toBe(249);
  const display = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  expect([...countryNames().codes].filter((code) => !display.of(code.toUpperCase()))).toEqual([]);
});
