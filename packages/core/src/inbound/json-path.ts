/**
 * JSON path forms of webhook sources, compiled once: `$.a.b[0]`, `$.list[*].name`, `$['odd key']`, `$headers.x-topic`, `$query.name`
 * and 'quoted literals'. `$.` is optional, as in mappings. `[*]` several times gives one flat list. Only own properties are read.
 */
import { isObject, own } from '../json.ts';
import { mayReadList } from '../value-size.ts';

export interface WebhookInput {
  body: unknown;
  /** By lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Query parameters of the request URL. */
  query: Readonly<Record<string, string>>;
}
export type WebhookGetter = (input: WebhookInput) => unknown;
export type CompiledJsonPath = { ok: true; get: WebhookGetter; literal: boolean } | { ok: false; message: string };

type Step = string | number | typeof EVERY;
const EVERY = Symbol('*');
const MAX_STEPS = 64;
const MAX_LENGTH = 1_000;
const NAME = /^[^.[\]'"\s]+/;
const INDEX = /^\[(?:(\d{1,9})|(\*)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/;

export function compileJsonPath(text: string): CompiledJsonPath {
  if (text.length > MAX_LENGTH) return wrong(`is longer than ${MAX_LENGTH} characters`);
  const quoted = /^'([\s\S]*)'$/.exec(text) ?? /^"([\s\S]*)"$/.exec(text);
  if (quoted) {
    const [, value] = quoted;
    return { ok: true, literal: true, get: () => value };
  }
  const outside = /^\$(headers|query)(?:\.([^\s[\]'"]+)|\[(['"])(.+)\3\])$/.exec(text);
  if (outside) {
    const [, part, plain, , quotedName] = outside;
    const name = plain ?? quotedName ?? '';
    return part === 'headers'
      ? { ok: true, literal: false, get: ({ headers }) => own(headers as Record<string, unknown>, name.toLowerCase()) }
      : { ok: true, literal: false, get: ({ query }) => own(query as Record<string, unknown>, name) };
  }
  // A bare `headers.x-id` nearly always means a header. As a body path it would silently read nothing.
  const bare = /^(headers|query)[.[](.*)$/.exec(text);
  if (bare) return wrong(`is ambiguous: write $${text} for the request's ${bare[1]}, or $.${text} for a field of the body`);
  const steps = parseSteps(text.startsWith('$') ? text.slice(1) : text.startsWith('[') ? text : `.${text}`);
  if (steps === undefined)
    return wrong(
      "is not a path such as $.data.id, $.items[0].name, $.items[*].name, $headers.x-id or $query.name, nor a literal in single quotes such as 'Form Submitted'",
    );
  if (steps.length > MAX_STEPS) return wrong(`has more than ${MAX_STEPS} steps`);
  return { ok: true, literal: false, get: ({ body }) => walk(body, steps, 0) };
}

function parseSteps(path: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== '') {
    const bracket = INDEX.exec(rest);
    if (bracket) {
      const [whole, index, every, single, double] = bracket;
      if (index !== undefined) steps.push(Number(index));
      else if (every !== undefined) steps.push(EVERY);
      else steps.push((single ?? double ?? '').replace(/\\(.)/g, '$1'));
      rest = rest.slice(whole.length);
      continue;
    }
    if (!rest.startsWith('.')) return undefined;
    if (rest.startsWith('.*')) {
      steps.push(EVERY);
      rest = rest.slice(2);
      continue;
    }
    const name = NAME.exec(rest.slice(1));
    if (!name) return undefined;
    steps.push(name[0]);
    rest = rest.slice(1 + name[0].length);
  }
  return steps;
}

function walk(value: unknown, steps: readonly Step[], from: number): unknown {
  let here = value;
  for (let i = from; i < steps.length; i++) {
    const step = steps[i]!;
    if (step === EVERY) {
      const items = itemsOf(here);
      if (items === undefined || !mayReadList(items)) return undefined;
      const found: unknown[] = [];
      collect(items, steps, i + 1, found);
      return found;
    }
    if (Array.isArray(here)) here = typeof step === 'number' ? here[step] : undefined;
    else if (isObject(here)) here = own(here, String(step));
    else return undefined;
  }
  return here;
}

/** Adds what each item has to one list: `[*]` several times gives no lists in lists. */
function collect(items: readonly unknown[], steps: readonly Step[], from: number, found: unknown[]): void {
  const lists = steps.includes(EVERY, from);
  for (const item of items) {
    const value = walk(item, steps, from);
    if (value === undefined) continue;
    if (!lists) found.push(value);
    else for (const inner of value as unknown[]) found.push(inner);
  }
}

function itemsOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : undefined;
}

function wrong(message: string): CompiledJsonPath {
  return { ok: false, message };
}
