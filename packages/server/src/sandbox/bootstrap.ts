/**
 * Runs inside each QuickJS context before user code: a console that collects, and the one function the host calls.
 * It keeps its own references, so that user code which overwrites `JSON` harms nobody but itself.
 */
const MAX_LOG_LINES = 50;
const MAX_LINE_LENGTH = 500;

export const BOOTSTRAP = `(() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { freeze } = Object;
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
  globalThis.console = freeze({ log, info: log, warn: log, error: log, debug: log, trace: log });
  return {
    setParameters: (json) => { parameters = freeze(parse(json)); },
    takeLogs: () => { const taken = stringify(logs); logs = []; return taken; },
    hasLogs: () => logs.length > 0,
    call: (transform, json) => {
      const returned = transform(parse(json), { parameters });
      if (returned !== null && typeof returned === 'object' && typeof returned.then === 'function')
        throw new TypeError('transform returned a promise: it must return the event itself');
      return stringify(returned) ?? 'null';
    },
  };
})()`;
/** An expression, so that `const transform = …` is found as well as a function declaration. */
export const FIND_TRANSFORM = `typeof transform === 'function' ? transform : undefined`;
