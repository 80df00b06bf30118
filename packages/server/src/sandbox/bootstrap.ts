/**
 * Runs inside each QuickJS context before user code: a console that collects lines, and the functions that the host calls. It keeps its
 * own references to built-ins, so that user code cannot change what the host relies on.
 */
const MAX_LOG_LINES = 50;
const MAX_LINE_LENGTH = 500;

export const BOOTSTRAP = `(() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { freeze, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const text = String;
  let logs = [];
  let parameters = freeze({});
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return text(value);
    try { return stringify(value) ?? text(value); } catch { return text(value); }
  };
  const log = (...values) => {
    if (logs.length >= ${MAX_LOG_LINES}) return;
    let line = '';
    for (let i = 0; i < values.length && line.length < ${MAX_LINE_LENGTH}; i++) line += (i > 0 ? ' ' : '') + show(values[i]);
    logs[logs.length] = line.length > ${MAX_LINE_LENGTH} ? line.slice(0, ${MAX_LINE_LENGTH}) + '…' : line;
  };
  globalThis.console = { log, info: log, warn: log, error: log, debug: log, trace: log };

  // Plain freezing would make \`error.name = 'X'\` or \`{}.toString = f\` fail, since the inherited property is read-only.
  // As accessors such properties stay as they are on the prototype and can be set on an object of one's own.
  const keepAssignable = (prototype) => {
    for (const key of ownKeys(prototype)) {
      const { value, writable } = getOwnPropertyDescriptor(prototype, key);
      if (writable !== true) continue;
      defineProperty(prototype, key, {
        get: () => value,
        set(own) {
          if (this !== prototype) defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: false,
      });
    }
  };
  /** Freezes the global object and everything that can be reached from it. */
  const harden = () => {
    const seen = new Set();
    const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];
    const hidden = [function* () {}, async function () {}, async function* () {}, [][Symbol.iterator](), ''[Symbol.iterator]()];
    const waiting = [globalThis, ...hidden, new Map().entries(), new Set().entries(), 'a'.matchAll(/a/g), (function* () {})()];
    for (const { prototype } of [Object, ...errors]) keepAssignable(prototype);
    while (waiting.length > 0) {
      const value = waiting.pop();
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
      seen.add(value);
      for (const key of ownKeys(value)) {
        const property = getOwnPropertyDescriptor(value, key);
        waiting.push(property.value, property.get, property.set);
      }
      waiting.push(getPrototypeOf(value));
      freeze(value);
    }
  };
  return {
    harden,
    setParameters: (json) => { parameters = freeze(parse(json)); },
    takeLogs: () => { const taken = stringify(logs); logs = []; return taken; },
    hasLogs: () => logs.length > 0,
    // The code's own top level runs for every event: its variables, caches and functions are new each time.
    load: (make) => typeof make() === 'function',
    call: (make, json) => {
      const returned = make()(parse(json), { parameters });
      if (returned !== null && typeof returned === 'object' && typeof returned.then === 'function')
        throw new TypeError('transform returned a promise: it must return the event itself');
      return stringify(returned) ?? 'null';
    },
  };
})()`;

/**
 * Wraps user code in a function that returns its `transform`. Line numbers stay the same. The caller checks that the code is a complete
 * program, so that it cannot close this function and define something outside it.
 */
export function asFunction(code: string): string {
  return `(function () {${code}\n;return typeof transform === 'function' ? transform : undefined;})`;
}
