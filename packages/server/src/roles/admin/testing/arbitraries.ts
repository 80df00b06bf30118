/** Values from a JSON Schema: those it describes, and those that break it in one place. */
import fc from 'fast-check';
import type { Schema } from '../docs/fields.ts';

/** Strings that often break parsers. */
export const NASTY = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff tail',
  "'; drop table pipelines; --",
  '" or ""="',
  '{{pipeline_param.X}}',
  '{{#each this}}',
  '__proto__',
  'constructor',
  'toString',
  '%00',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '\u202e\u0007\u001b[31m',
  '🙂'.repeat(50),
  'x'.repeat(5_000),
  '••••abcd',
  'NaN',
  '1e999',
];
const nasty = fc.constantFrom(...NASTY);
const anything = fc.oneof(
  nasty,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, -0, 2 ** 60, [], {}, [[]], [null], { a: {} }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);

export function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(valid));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valid({ ...schema, type })));
  switch (schema.type) {
    case 'string':
      return validString(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000_000, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return validArray(schema);
    case 'object':
      return validObject(schema);
    default:
      return anything;
  }
}

function validString(schema: Schema): fc.Arbitrary<unknown> {
  const min = schema.minLength ?? 0;
  const max = Math.min(schema.maxLength ?? 60, min + 60);
  if (schema.format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (schema.pattern !== undefined) {
    const { pattern } = schema;
    const shaped = fc
      .stringMatching(new RegExp(pattern, 'u'), { maxLength: max })
      .filter((text) => [...text].length >= min && [...text].length <= max);
    return schema.examples === undefined ? shaped : fc.oneof(shaped, fc.constantFrom(...schema.examples));
  }
  return fc.oneof(
    fc.string({ minLength: min, maxLength: max, unit: 'grapheme' }),
    nasty.filter((text) => text.length >= min && text.length <= max),
  );
}
function validArray(schema: Schema): fc.Arbitrary<unknown> {
  const options = { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 4, 4) };
  const item = valid(schema.items ?? {});
  return fc.array(item, options);
}
function validObject(schema: Schema): fc.Arbitrary<unknown> {
  const named = Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, valid(value)]));
  const fixed = fc.record(named, { requiredKeys: (schema.required ?? []).filter((key) => key in named) });
  const [pattern] = Object.entries(schema.patternProperties ?? {});
  const free = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  if (pattern === undefined && free === undefined)
    return schema.properties === undefined ? fc.dictionary(fc.string({ maxLength: 20 }), anything, { maxKeys: 4 }) : fixed;
  const key =
    pattern === undefined || pattern[0] === '^.*$'
      ? fc.string({ minLength: 1, maxLength: 20 })
      : fc.stringMatching(new RegExp(pattern[0], 'u'), { maxLength: 20 });
  return fc.tuple(fixed, fc.dictionary(key, valid(pattern?.[1] ?? free!), { maxKeys: 3 })).map(([one, more]) => ({ ...more, ...one }));
}

/** A valid body with one fault: a missing field, an unknown field, or a nested value of the wrong type. */
export function broken(schema: Schema): fc.Arbitrary<unknown> {
  return fc
    .tuple(valid(schema), anything, fc.nat(), fc.constantFrom('remove', 'add', 'replace', 'deep', 'whole'), nasty)
    .map(([body, value, pick, kind, text]) => {
      if (kind === 'whole' || typeof body !== 'object' || body === null) return value;
      const copy = structuredClone(body) as Record<string, unknown>;
      const keys = Object.keys(copy);
      const key = keys[pick % Math.max(1, keys.length)];
      if (kind === 'add' || key === undefined)
        Object.defineProperty(copy, text === '' ? 'unknown' : text, { value, enumerable: true, configurable: true });
      else if (kind === 'remove') delete copy[key];
      else if (kind === 'replace') copy[key] = value;
      else copy[key] = breakInside(copy[key], value, pick);
      return copy;
    });
}
function breakInside(target: unknown, value: unknown, pick: number): unknown {
  if (typeof target !== 'object' || target === null) return value;
  const keys = Object.keys(target);
  if (keys.length === 0) return value;
  const key = keys[pick % keys.length]!;
  (target as Record<string, unknown>)[key] = breakInside((target as Record<string, unknown>)[key], value, pick >> 2);
  return target;
}
