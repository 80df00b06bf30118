import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileDeleter, compileGetter, compilePath, compileSetter, formatPath, parsePath } from './path.ts';

const data = JSON.parse(
  '{"a":{"b":{"c":{"d":{"e":5}}}},"list":[{"id":1,"t":["x","y"]},{"n":2},{"id":3,"t":["z"]}],"a.b":1,"x-y":2,"__proto__":{"own":1},"constructor":{"name":"mine"},"nil":null,"text":"abc"}',
);

describe('reading', () => {
  test.each<[string, unknown]>([
    ['a.b.c.d.e', 5],
    ['a.b.x.d', undefined],
    ['$.a.b.c.d.e', 5],
    ['$', data],
    ['list[0].id', 1],
    ['list.1.n', 2],
    ['list[9].id', undefined],
    ['list[*].id', [1, undefined, 3]],
    ['list[*].t[*]', ['x', 'y', undefined, 'z']],
    ['list.length', 3],
    ['a[*]', undefined],
    ['["a.b"]', 1],
    ["['a.b']", 1],
    ['x-y', 2],
    ['nil', null],
    ['nil.x', undefined],
    ['text.length', undefined],
    ['text[0]', undefined],
    ['constructor.name', 'mine'],
    ['a.constructor', undefined],
    ['a.__proto__', undefined],
    ['a.toString', undefined],
    ['list.map', undefined],
    ['a.hasOwnProperty.call', undefined],
  ])('%s', (text, expected) => {
    const path = compilePath(text);
    expect(path.ok ? path.get(data) : path).toEqual(expected);
  });
  test('the own field named __proto__ is data', () => {
    const path = compilePath('__proto__.own');
    expect(path.ok && path.get(data)).toBe(1);
  });
  test.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a[',
    'a[x]',
    'a]',
    'a["b]',
    'a.[0]',
    'a[-1]',
    'a[10000]',
    'a[0]b',
    '$.',
    'x'.repeat(1_001),
    `a${'.b'.repeat(64)}`,
  ])('%s is refused', (text) => expect(compilePath(text)).toMatchObject({ ok: false, message: expect.any(String) }));
});

test('of several paths the first that is there counts, inside a list for each element', () => {
  const get = (paths: string[]) => {
    const getter = compileGetter(paths);
    return getter.ok ? getter.get(data) : getter;
  };
  expect(get(['nil', 'text'])).toBe('abc');
  expect(get(['list[*].id', 'list[*].n'])).toEqual([1, 2, 3]);
  expect(get(['list[*].x', 'text'])).toBe('abc');
  expect(get(['list[*].x'])).toBeUndefined();
  expect(compileGetter(['a', 'b['])).toMatchObject({ ok: false, index: 1 });
  expect(compileGetter([])).toMatchObject({ ok: false });
});

test('of several paths an empty text counts only where no other has a value', () => {
  const get = (paths: string[], event: unknown) => {
    const getter = compileGetter(paths);
    return getter.ok ? getter.get(event) : getter;
  };
  expect(get(['a', 'b'], { a: '', b: 'x' })).toBe('x');
  expect(get(['a', 'b'], { a: '', b: 0 })).toBe(0);
  expect(get(['a', 'b'], { a: '', b: null })).toBe('');
  expect(get(['a', 'b'], { a: ' ', b: 'x' })).toBe(' ');
  expect(get(['a'], { a: '' })).toBe('');
  expect(get(['p[*].id', 'p[*].sku'], { p: [{ id: '', sku: 'S' }, { id: 1, sku: 'S' }, { id: '' }] })).toEqual(['S', 1, '']);
});

describe('writing', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['a.b', {}, 1, { a: { b: 1 } }],
    ['a.b', { a: { c: 2 } }, 1, { a: { c: 2, b: 1 } }],
    ['a.b', { a: 'text' }, 1, { a: { b: 1 } }],
    ['a[1]', {}, 1, { a: [null, 1] }],
    ['a[*].x', {}, [1, undefined, 3], { a: [{ x: 1 }, {}, { x: 3 }] }],
    ['a[*].x', { a: [{ y: 1 }, { y: 2 }] }, [1], { a: [{ y: 1, x: 1 }, { y: 2 }] }],
    [
      'a[*].x',
      { a: [{ y: 1 }, { y: 2 }] },
      7,
      {
        a: [
          { y: 1, x: 7 },
          { y: 2, x: 7 },
        ],
      },
    ],
    ['a[*].x', {}, 7, { a: [{ x: 7 }] }],
    ['a[*]', {}, [1, undefined, 2], { a: [1, 2] }],
    ['a["b.c"]', {}, 1, { a: { 'b.c': 1 } }],
    ['constructor.prototype.x', {}, 1, { constructor: { prototype: { x: 1 } } }],
  ])('%s', (text, root, value, expected) => {
    const setter = compileSetter(text);
    if (!setter.ok) throw new Error(setter.message);
    const before = structuredClone(root);
    expect(setter.with(root, value)).toEqual(expected);
    expect(root).toEqual(before);
    setter.set(root as object, value);
    expect(root).toEqual(expected);
  });
  test('__proto__ as a target is a field like any other', () => {
    const setter = compileSetter('__proto__.polluted');
    const root = {};
    if (setter.ok) setter.set(root, 'yes');
    expect(JSON.stringify(root)).toBe('{"__proto__":{"polluted":"yes"}}');
    expect(Object.getPrototypeOf(root)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('removing', () => {
  test.each<[string, unknown, unknown]>([
    ['a.b', { a: { b: 1, c: 2 } }, { a: { c: 2 } }],
    ['a.x', { a: { b: 1 } }, { a: { b: 1 } }],
    ['a[0]', { a: [1, 2] }, { a: [2] }],
    ['a[*].x', { a: [{ x: 1, y: 2 }, { y: 3 }] }, { a: [{ y: 2 }, { y: 3 }] }],
    ['a[*]', { a: [1] }, { a: [] }],
    ['toString', { a: 1 }, { a: 1 }],
  ])('%s', (text, root, expected) => {
    const deleter = compileDeleter(text);
    if (!deleter.ok) throw new Error(deleter.message);
    const before = structuredClone(root);
    const after = deleter.without(root);
    expect(after).toEqual(expected);
    expect(root).toEqual(before);
    if (JSON.stringify(before) === JSON.stringify(expected)) expect(after).toBe(root);
    deleter.delete(root as object);
    expect(root).toEqual(expected);
  });
  test.each(['$', 'a['])('%s is no target', (text) => {
    expect([compileSetter(text).ok, compileDeleter(text).ok]).toEqual([false, false]);
  });
});

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'length', 'a', 'b', '0'));
const segment = fc.oneof(
  key.map((name) => ({ kind: 'key', key: name }) as const),
  fc.nat(20).map((index) => ({ kind: 'index', index }) as const),
  fc.constant({ kind: 'each' } as const),
);

test('formatted paths parse back', () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 8 }), (segments) => {
      const text = formatPath(segments);
      expect(parsePath(text)).toEqual({ ok: true, segments });
    }),
  );
});

test('nothing throws, pollutes prototypes or modifies its input', () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort();
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), fc.jsonValue(), fc.jsonValue(), (segments, root, value) => {
      const text = formatPath(segments);
      const copy = JSON.stringify(root);
      const getter = compilePath(text);
      const setter = compileSetter(text);
      const deleter = compileDeleter(text);
      if (!getter.ok || !setter.ok || !deleter.ok) throw new Error(text);
      getter.get(root);
      deleter.without(root);
      const written = setter.with(root, value);
      expect(JSON.stringify(root)).toBe(copy);
      if (!segments.some(({ kind }) => kind === 'each')) expect(getter.get(written)).toEqual(value);
    }),
  );
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
});

test('any text compiles or is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const path = compilePath(text);
      if (path.ok) path.get({ a: 1 });
    }),
  );
});
