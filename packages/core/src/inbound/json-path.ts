/**
 * The JSON path forms of webhook mappings, compiled once: `$.a.b[0]`, `$.list[*].name`, `$['odd key']`, `$headers.x-topic`,
 * and 'quoted literals'. Only own properties are read.
 */
import { isObject, own } from '../json.ts';

export interface WebhookInput {
  body: unknown;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
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
    const value = quoted[1]!;
    return { ok: true, literal: true, get: () => value };
  }
  const header = /^\$headers\.([A-Za-z0-9!#$%&'*+.^_`|~-]+)$/.exec(text) ?? /^\$headers\[['"]([^'"]+)['"]\]$/.exec(text);
  if (header) {
    const name = header[1]!.toLowerCase();
    return { ok: true, literal: false, get: ({ headers }) => own(headers as Record<string, unknown>, name) };
  }
  if (!text.startsWith('$')) return wrong("is neither a path such as $.data.id nor a literal in single quotes such as 'Form Submitted'");
  const steps = parseSteps(text.slice(1));
  if (steps === undefined) return wrong('is not a path of the forms $.field, $.nested.field, $.array[0], $.array[*].field');
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
      const items = Array.isArray(here) ? here : isObject(here) ? Object.values(here) : undefined;
      return items?.map((item) => walk(item, steps, i + 1)).filter((item) => item !== undefined);
    }
    if (Array.isArray(here)) here = typeof step === 'number' ? here[step] : undefined;
    else if (isObject(here)) here = own(here, String(step));
    else return undefined;
  }
  return here;
}

function wrong(message: string): CompiledJsonPath {
  return { ok: false, message };
}
