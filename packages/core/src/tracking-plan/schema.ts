/**
 * Compiles JSON Schema (drafts 7 and 2020-12, where they agree or differ only in spelling) to closures. No code is generated from user
 * input, patterns run in linear time, and the work per event is bounded for every schema.
 */
import { isObject, own } from '../json.ts';
import { finish, type Steps } from '../steps.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { KEYWORDS, unknownKeyword } from './keywords.ts';
import { type Check, fail, type Run, type SchemaScope, type Violation } from './run.ts';

export type { Violation } from './run.ts';
export type Validate = (value: unknown, path: string, violations: Violation[]) => void;
export type SchemaResult = { ok: true; validate: Validate } | { ok: false; faults: ConfigFault[] };

const MAX_NODES = 10_000;
const MAX_SCHEMA_DEPTH = 64;
const PROPERTIES_PER_STEP = 500;
/** Each different one is compared with the known keywords. */
const MAX_UNKNOWN = 1_000;
/** Maximum steps per event. Without it, a schema that refers to itself twice would never end. */
const BUDGET = 20_000;
const MAX_DEPTH = 300;
/** Keywords that no check reads. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default', 'example', 'deprecated']);

export function compileSchema(schema: unknown, where: string): SchemaResult {
  return finish(compileSchemaInSteps(schema, where));
}
/** The same, divided: 10,000 properties take some 20 ms. */
export function* compileSchemaInSteps(schema: unknown, where: string): Steps<SchemaResult> {
  const compiler = new Compiler(schema);
  yield* compiler.prepare(schema, where);
  const check = compiler.compile(schema, where, 0);
  if (compiler.faults.length > 0) return { ok: false, faults: compiler.faults };
  const validate: Validate = (value, path, violations) => {
    const run: Run = { violations, budget: BUDGET, depth: 0 };
    check(value, path, run);
    if (run.budget <= 0) fail(run, path, 'is too much work to check');
  };
  const trial: Run = { violations: [], budget: BUDGET, depth: 0 };
  check({}, '', trial);
  if (trial.budget <= 0) return { ok: false, faults: [{ field: where, message: 'refers to itself without end' }] };
  return { ok: true, validate };
}

class Compiler implements SchemaScope {
  readonly faults: ConfigFault[] = [];
  readonly #root: unknown;
  readonly #refs = new Map<string, { check: Check | undefined }>();
  #anchors: ReadonlyMap<string, unknown> | undefined;
  /** Unknown keywords and their faults. */
  readonly #unknown = new Map<string, string | undefined>();
  /** Checks of properties that were compiled before their object. */
  readonly #ready = new Map<unknown, Check>();
  /** Checks of schemas without further schemas, by content. Most properties of a large plan have one of a few. */
  readonly #leaves = new Map<string, Check>();
  #nodes = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  fault(field: string, message: string): void {
    if (this.faults.length < 50) this.faults.push({ field, message });
  }

  /** Compiles the properties of a large schema, a few at a time. */
  *prepare(schema: unknown, where: string): Steps<void> {
    const properties = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
    for (let from = 0; properties.length > PROPERTIES_PER_STEP && from < properties.length; from += PROPERTIES_PER_STEP) {
      for (const name of properties.slice(from, from + PROPERTIES_PER_STEP)) {
        const one = ((schema as Record<string, unknown>).properties as Record<string, unknown>)[name];
        if (isObject(one)) this.#ready.set(one, this.compile(one, `${where}.properties.${name}`, 1));
      }
      yield;
    }
  }

  compile(schema: unknown, where: string, depth: number): Check {
    const ready = this.#ready.get(schema);
    if (ready !== undefined) return ready;
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || depth > MAX_SCHEMA_DEPTH) {
      if (this.#nodes <= MAX_NODES + 1) this.fault(where, 'the schema is too large');
      return PASS;
    }
    if (schema === true) return PASS;
    if (schema === false) return (_value, path, run) => fail(run, path, 'is not allowed');
    if (!isObject(schema)) {
      this.fault(where, 'must be a JSON Schema: an object, true or false');
      return PASS;
    }
    const leaf = leafKey(schema);
    const known = leaf === undefined ? undefined : this.#leaves.get(leaf);
    if (known !== undefined) return known;
    const checks: Check[] = [];
    const faults = this.faults.length;
    for (const keyword of Object.keys(schema)) {
      if (keyword === '$ref') checks.push(this.#reference(schema[keyword], `${where}.$ref`, depth));
      else if (Object.hasOwn(KEYWORDS, keyword)) {
        const check = KEYWORDS[keyword]!(schema[keyword], schema, `${where}.${keyword}`, this, depth + 1);
        if (check !== undefined) checks.push(check);
      } else {
        const fault = this.#unknownKeyword(keyword);
        if (fault !== undefined) this.fault(`${where}.${keyword}`, fault);
      }
    }
    const check = sequence(checks);
    if (leaf !== undefined && this.faults.length === faults) this.#leaves.set(leaf, check);
    return check;
  }

  #unknownKeyword(keyword: string): string | undefined {
    if (this.#unknown.has(keyword)) return this.#unknown.get(keyword);
    if (this.#unknown.size >= MAX_UNKNOWN) return `is one of more than ${MAX_UNKNOWN} unknown keywords`;
    const fault = unknownKeyword(keyword);
    this.#unknown.set(keyword, fault);
    return fault;
  }

  #anchored(anchor: string): unknown {
    this.#anchors ??= anchorsOf(this.#root);
    return this.#anchors.get(anchor);
  }

  /** References must stay inside the document: `#`, `#/definitions/x`, `#/$defs/x`, `#anchor`. */
  #reference(ref: unknown, where: string, depth: number): Check {
    if (typeof ref !== 'string' || !ref.startsWith('#')) {
      this.fault(where, 'must refer to a place in the same schema, such as #/$defs/price');
      return PASS;
    }
    let entry = this.#refs.get(ref);
    if (entry === undefined) {
      const target = ref === '#' ? this.#root : ref[1] === '/' ? pointed(this.#root, ref) : this.#anchored(ref.slice(1));
      if (target === undefined) {
        this.fault(where, `refers to ${JSON.stringify(ref)}, which is not in the schema`);
        return PASS;
      }
      entry = { check: undefined };
      this.#refs.set(ref, entry);
      entry.check = this.compile(target, where, depth + 1);
    }
    const found = entry;
    return (value, path, run) => {
      if (run.depth > MAX_DEPTH) {
        run.budget = 0;
        return;
      }
      run.depth += 1;
      found.check?.(value, path, run);
      run.depth -= 1;
    };
  }
}

const PASS: Check = () => undefined;

/** What decides about the checks of a schema that has no further schemas and lists. */
function leafKey(schema: Record<string, unknown>): string | undefined {
  const rules: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value === 'object' && value !== null) return undefined;
    if (!WORDS.has(keyword)) rules.push([keyword, value]);
  }
  return JSON.stringify(rules);
}

function sequence(checks: readonly Check[]): Check {
  return (value, path, run) => {
    if (run.budget <= 0) return;
    run.budget -= 1;
    for (const check of checks) check(value, path, run);
  };
}

function pointed(root: unknown, ref: string): unknown {
  let at = root;
  for (const part of ref.slice(2).split('/')) {
    const key = unescapePointer(part);
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) ? own(at, key) : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

function unescapePointer(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // a stray percent sign is part of the name
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Collects every `$anchor` and draft 7's `$id: "#name"` in one walk. Of two equal names the first one wins. */
function anchorsOf(root: unknown): ReadonlyMap<string, unknown> {
  const anchors = new Map<string, unknown>();
  const visit = (schema: unknown, depth: number): void => {
    if (typeof schema !== 'object' || schema === null || depth > MAX_SCHEMA_DEPTH) return;
    if (isObject(schema)) {
      const { $anchor, $id } = schema;
      const names = [$anchor, typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined];
      for (const name of names) if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, schema);
    }
    for (const inner of Object.values(schema)) visit(inner, depth + 1);
  };
  visit(root, 0);
  return anchors;
}
