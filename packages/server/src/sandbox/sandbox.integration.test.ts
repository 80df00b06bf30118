import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from './sandbox.ts';

const event: CanonicalEvent = {
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  anonymous_id: 'a1',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: {},
  properties: { total: 10 },
};
const boxes: Sandbox[] = [];
function sandbox(options: Parameters<typeof createSandbox>[0] = {}): Sandbox {
  const box = createSandbox(options);
  boxes.push(box);
  return box;
}
afterAll(() => Promise.all(boxes.map((box) => box.stop())));

function run(
  box: Sandbox,
  code: string,
  options: { owner?: string; org?: string; pipeline?: string; event?: unknown; parameters?: Record<string, string> } = {},
) {
  return box.run({
    code: { owner: options.owner ?? 'trf_1', code },
    org_id: options.org ?? 'org_1',
    pipeline_id: options.pipeline ?? 'pl_1',
    event: (options.event ?? event) as CanonicalEvent,
    parameters: options.parameters ?? {},
  });
}

describe('input and output of code', () => {
  // Good code must not meet a limit on a machine that is busy with other things.
  const box = sandbox({ limits: { soft_ms: 30_000, hard_ms: 60_000 } });
  // Endless loops are to be stopped by the interpreter itself, however little time the worker gets.
  const strict = sandbox({ limits: { hard_ms: 60_000 } });
  const cases: [name: string, code: string, expected: unknown, options?: Parameters<typeof run>[2]][] = [
    [
      'an event goes in and comes out',
      'function transform(event) { event.properties.total *= 2; return event }',
      { ...event, properties: { total: 20 } },
    ],
    ['an arrow function is found too', 'const transform = (event) => ({ ...event, name: "x" })', { ...event, name: 'x' }],
    ['null drops', 'function transform() { return null }', null],
    ['nothing drops', 'function transform() {}', null],
    ['parameters', 'function transform(e, { parameters }) { return parameters.A }', 'one', { parameters: { A: 'one' } }],
    ['parameters change', 'function transform(e, { parameters }) { return parameters.A }', 'two', { parameters: { A: 'two' } }],
    [
      'overwritten JSON harms only itself',
      'JSON.stringify = () => "{}"; JSON.parse = null; function transform(e) { return e.event_id }',
      'e1',
    ],
    [
      'no host objects',
      'function transform() { return [typeof process, typeof require, typeof fetch, typeof setTimeout, typeof globalThis.window] }',
      new Array(5).fill('undefined'),
    ],
    [
      'names that would reach a prototype stay data',
      'function transform(e) { return e }',
      JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
      { event: JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') },
    ],
    [
      'every character survives',
      'function transform(e) { return e }',
      { text: 'a\u0000b \ud800 é 💚 \u2028 "\\' },
      { event: { text: 'a\u0000b \ud800 é 💚 \u2028 "\\' } },
    ],
  ];
  test.each(cases)('%s', async (name, code, expected, options) => {
    const result = await run(box, code, { owner: name, ...options });
    expect(result).toEqual({ kind: 'returned', value: expected, logs: [] });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('an event with a million empty lists is refused in the worker, and one with as many numbers is not', async () => {
    const lists = 'function transform(e) { const many = new Array(1000).fill([]); e.l = new Array(1000).fill(many); return e }';
    expect(await run(box, lists, { owner: 'lists' })).toMatchObject({
      kind: 'failed',
      reason: 'the code returned more than 50000 objects, lists and fields',
    });
    const numbers = 'function transform(e) { e.l = new Array(1000000).fill(0); return e }';
    expect(await run(box, numbers, { owner: 'numbers' })).toMatchObject({ kind: 'returned', value: { event_id: 'e1' } });
  });
  test('console output is captured, and bounded', async () => {
    const code =
      'function transform(e) { console.log("total", e.properties.total, { a: 1 }); console.error(new Error("no")); return null }';
    expect(await run(box, code, { owner: 'logs' })).toEqual({ kind: 'returned', value: null, logs: ['total 10 {"a":1}', 'Error: no'] });
    const flood = await run(box, 'function transform() { for (let i = 0; i < 1000; i++) console.log("x".repeat(10000)); return null }', {
      owner: 'flood',
    });
    expect(flood.logs).toHaveLength(50);
    expect(flood.logs[0]).toHaveLength(501);
  });

  const failures: [name: string, code: string, reason: string | RegExp][] = [
    ['what is thrown', 'function transform(e) {\n  throw new TypeError("bad total")\n}', 'line 2: TypeError: bad total'],
    ['what is thrown, no error', 'function transform(e) { throw "no" }', 'thrown: no'],
    ['a missing property', 'function transform(e) { return e.nothing.here }', /^line 1: TypeError: /],
    ['a syntax error', 'function transform(e) {\n\n  retrun e\n}', /^line 3: SyntaxError: /],
    ['no transform', 'const other = 1', 'the code defines no function transform(event, { parameters })'],
    ['a promise', 'async function transform(e) { return e }', /must return the event itself/],
    ['endless recursion', 'function transform(e) { return transform(e) }', /stack overflow|Maximum call stack/],
    ['a cycle', 'function transform(e) { e.self = e; return e }', /circular/],
    ['an endless loop', 'function transform(e) { for (;;); }', 'stopped after 50 ms'],
    ['an endless loop while loading', 'for (;;); function transform(e) { return e }', 'stopped after 50 ms'],
    ['an endless loop that catches', 'function transform(e) { for (;;) { try { for (;;); } catch {} } }', 'stopped after 50 ms'],
  ];
  test.each(failures)('%s', async (name, code, reason) => {
    const result = await run(strict, code, { owner: name });
    expect(result.kind === 'failed' ? result.reason : result).toMatch(reason);
  });

  test('too much memory', async () => {
    const code = 'function transform(e) { const all = []; for (;;) all.push("x".repeat(1000000) + all.length) }';
    expect(await run(sandbox({ workers: 1 }), code)).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^(stopped|ended)/) });
  });

  test('memory is bounded for every kind of allocation', async () => {
    const code = 'function transform() { const all = []; try { for (;;) all.push(new Uint8Array(1e6)) } catch { return all.length } }';
    const taken = await run(box, code, { owner: 'arrays' });
    expect(taken.kind === 'returned' && (taken.value as number)).toBeLessThan(32);
  });

  test('memory used by one piece of code does not reduce that of another', async () => {
    const one = sandbox({ workers: 1, limits: { soft_ms: 30_000, hard_ms: 60_000 } });
    const code =
      'const held = []; function transform() { for (let i = 0; i < 20; i++) held.push(new Uint8Array(1e6)); return held.length }';
    const all = await Promise.all(Array.from({ length: 6 }, (_, i) => run(one, code, { owner: `held-${i}`, pipeline: `pl_${i}` })));
    expect(all).toMatchObject(new Array(6).fill({ kind: 'returned', value: 20 }));
  });

  test('code that was stopped runs again on the next event', async () => {
    const code = 'function transform(e) { if (e.loop) for (;;); return 1 }';
    expect(await run(strict, code, { owner: 'again', event: { loop: true } })).toMatchObject({ kind: 'failed' });
    expect(await run(strict, code, { owner: 'again', event: {} })).toMatchObject({ kind: 'returned', value: 1 });
  });

  test('validation names the line, and test runs leave nothing behind', async () => {
    expect(await box.validateCode('function transform(e) { return e }', 'org_1')).toEqual([]);
    expect(await box.validateCode('function transform(e) {\n return }}', 'org_1')).toEqual([
      { field: 'code', message: expect.stringMatching(/^line 2: SyntaxError/) },
    ]);
    expect(await box.validateCode('let x = 1', 'org_1')).toEqual([
      { field: 'code', message: 'the code defines no function transform(event, { parameters })' },
    ]);
    const counter = 'let n = 0; function transform() { return ++n }';
    expect([await box.runFresh(counter, {}, {}, 'org'), await box.runFresh(counter, {}, {}, 'org')]).toMatchObject([
      { value: 1 },
      { value: 1 },
    ]);
  });
});

describe('nothing lives on from one event to the next', () => {
  const cases: [name: string, code: string][] = [
    ['variables', 'let n = 0; var m = 0; function transform() { return { n: ++n, m: ++m } }'],
    ['a cache', 'const seen = []; function transform(e) { seen.push(e.event_id); return { seen } }'],
    ['the global object', 'function transform(e) { (globalThis.seen ??= []).push(e.event_id); return { seen: globalThis.seen ?? null } }'],
    [
      'an undeclared name',
      'function transform(e) { try { leaked = (typeof leaked === "number" ? leaked : 0) + 1 } catch {} return { leaked: typeof leaked } }',
    ],
    [
      'properties of built-in objects',
      'function transform(e) { try { Math.seen = (Math.seen ?? 0) + 1 } catch {} return { seen: Math.seen ?? null } }',
    ],
    [
      'replaced methods',
      'function transform(e) { const old = [].map.call; try { Array.prototype.map = () => "mine" } catch {} return { mine: [1].map(String) } }',
    ],
    [
      'prototypes',
      'function transform(e) { try { Object.prototype.seen = e.event_id; Object.prototype.toString = 1 } catch {} return { seen: ({}).seen ?? null, t: typeof {}.toString } }',
    ],
    [
      'hidden prototypes',
      'function transform(e) { const p = Object.getPrototypeOf(function* () {}); try { p.n = (p.n ?? 0) + 1 } catch {} return { n: p.n ?? null } }',
    ],
    ['the function itself', 'function transform(e) { transform.n = (transform.n ?? 0) + 1; return { n: transform.n } }'],
    ['console', 'function transform(e) { try { console.log.n = (console.log.n ?? 0) + 1 } catch {} return { n: console.log.n ?? null } }'],
    ['parameters', 'function transform(e, { parameters }) { try { parameters.n = 1 } catch {} return { n: parameters.n ?? null } }'],
    ['a class', 'class C { static n = 0 } function transform() { return { n: ++C.n } }'],
  ];
  test.each(cases)('%s', async (_name, code) => {
    const box = sandbox({ workers: 1, limits: { soft_ms: 30_000, hard_ms: 60_000 } });
    const first = await run(box, code, { event: { ...event, event_id: 'a' } });
    const second = await run(box, code, { event: { ...event, event_id: 'b' } });
    expect(first.kind, JSON.stringify(first)).toBe('returned');
    expect(JSON.stringify(second).replaceAll('"b"', '"a"')).toBe(JSON.stringify(first));
  });
  test('code cannot close the function around it', async () => {
    const box = sandbox();
    for (const code of [
      '}); let kept = 0; (function () { function transform() { return { n: ++kept } }',
      'return 1; function transform() {}',
    ])
      expect(await box.validateCode(code, 'org_1')).toMatchObject([{ message: expect.stringContaining('SyntaxError') }]);
  });
  test('objects of its own may have any property', async () => {
    const code = `'use strict'; class Mine extends Error { constructor() { super('m'); this.name = 'Mine'; } }
      function transform() { const o = {}; o.toString = () => 'own'; o.constructor = 1; return { name: new Mine().name, text: String(o), c: o.constructor } }`;
    expect(await run(sandbox(), code)).toMatchObject({ value: { name: 'Mine', text: 'own', c: 1 } });
  });
});

test('changed code takes effect at once', async () => {
  const box = sandbox({ workers: 1 });
  expect(await run(box, 'function transform() { return 1 }')).toMatchObject({ value: 1 });
  expect(await run(box, 'function transform() { return 2 }')).toMatchObject({ value: 2 });
});

test('an uninterruptible run ends with its worker, and queued runs continue', async () => {
  const box = sandbox({ workers: 1 });
  await run(box, 'function transform() { return 0 }', { owner: 'warm' });
  // Written out as one step of the interpreter, which takes far longer and never asks whether it should stop.
  const code = 'function transform(e) { return e.hang ? (1n << 1000000n).toString() : e.n }';
  const hung = run(box, code, { owner: 'hang', event: { hang: true } });
  const others = Promise.all([1, 2, 3].map((n) => run(box, code, { owner: 'hang', event: { n } })));
  expect(await hung).toEqual({ kind: 'failed', reason: 'ended after 250 ms', logs: [] });
  expect(await others).toMatchObject([{ value: 1 }, { value: 2 }, { value: 3 }]);
});

test('on a starved machine code is ended for the processor time that it used, not for the time that passed', async () => {
  const started = performance.now();
  // Time passes a hundred times as fast as the worker runs.
  const clock = { monotonic: () => (performance.now() - started) * 100 };
  const box = sandbox({ workers: 1, clock, limits: { soft_ms: 2_000, hard_ms: 20_000 } });
  const code = 'function transform() { const end = Date.now() + 1000; while (Date.now() < end); return 1 }';
  expect(await run(box, code)).toMatchObject({ value: 1 });
});

test('runaway code delays neither other visitors nor other pipelines', async () => {
  // It would hang for as long as the test may take: whoever waits for it is found out, however slow the machine.
  const box = sandbox({ workers: 2, limits: { soft_ms: 600_000, hard_ms: 600_000 } });
  const code = 'function transform(e) { if (e.hang) for (;;); return 1 }';
  const hung = run(box, code, { event: { hang: true } }).then(() => 'it ended');
  const visitors = () => Array.from({ length: 40 }, () => run(box, code, { event: {} }));
  const pipelines = () =>
    Array.from({ length: 40 }, () => run(box, 'function transform() { return 2 }', { owner: 'trf_2', pipeline: 'pl_2' }));
  // The second time its pipeline is under suspicion from the start.
  for (const time of ['first', 'second'])
    expect(await Promise.race([hung, Promise.all([...visitors(), ...pipelines()]).then(() => `the others, the ${time} time`)])).toBe(
      `the others, the ${time} time`,
    );
  await box.stop();
  expect(await hung).toBe('it ended');
});

test('after five ended runs the code is suspended for 30 s, other code is not', async () => {
  let now = 0;
  const started = performance.now();
  const clock = { monotonic: () => now + performance.now() - started };
  const box = sandbox({ workers: 2, clock, limits: { hard_ms: 60_000 } });
  const loop = 'function transform(e) { if (e.ok) return 1; for (;;); }';
  const reasons: string[] = [];
  for (let i = 0; i < 7; i++) {
    const result = await run(box, loop, { owner: 'trf_bad', event: {} });
    reasons.push(result.kind === 'failed' ? (/^[a-z]+/.exec(result.reason)?.[0] ?? '') : 'ran');
  }
  expect(reasons).toEqual([...new Array(5).fill('stopped'), 'suspended', 'suspended']);
  expect(await run(box, loop, { owner: 'trf_bad', event: { ok: true } })).toMatchObject({ kind: 'failed' });
  expect(await run(box, loop, { owner: 'trf_good', event: { ok: true } })).toMatchObject({ value: 1 });
  now += 31_000;
  expect(await run(box, loop, { owner: 'trf_bad', event: { ok: true } })).toMatchObject({ value: 1 });
});

test('suspending code also applies to queued runs', async () => {
  const box = sandbox({ workers: 2, limits: { hard_ms: 60_000 } });
  const waiting = Array.from({ length: 200 }, () => run(box, 'function transform() { for (;;); }', { owner: 'trf_bad', event: {} }));
  const reasons = (await Promise.all(waiting)).map((result) => (result.kind === 'failed' ? result.reason.split(' ')[0]! : 'ran'));
  const stopped = reasons.filter((reason) => reason === 'stopped').length;
  expect(stopped).toBeGreaterThanOrEqual(5);
  // What is under way in the workers when the fifth ends is two messages of sixteen at the most, and the one before.
  expect(stopped).toBeLessThanOrEqual(48);
  expect(reasons.filter((reason) => reason === 'suspended')).toHaveLength(200 - stopped);
});

test('no worker before the first run', async () => {
  const box = sandbox();
  expect(box.workers).toBe(0);
  await run(box, 'function transform() { return 1 }');
  // Two, and one in reserve.
  expect(box.workers).toBe(3);
});

test('stopping settles queued runs', async () => {
  const box = sandbox();
  const waiting = run(box, 'function transform() { return 1 }');
  await box.stop();
  expect(await waiting).toEqual({ kind: 'failed', reason: 'the sandbox has stopped', logs: [] });
});
