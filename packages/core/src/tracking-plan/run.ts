export interface Violation {
  path: string;
  message: string;
}
/** State of one event's check: the violations found and the remaining work budget. */
export interface Run {
  violations: Violation[];
  budget: number;
  depth: number;
  /** The names of objects that were asked for. */
  keys?: Map<object, readonly string[]>;
}
export type Check = (value: unknown, path: string, run: Run) => void;

export interface SchemaScope {
  compile(schema: unknown, where: string, depth: number): Check;
  fault(field: string, message: string): void;
}
export type Keyword = (
  value: unknown,
  schema: Record<string, unknown>,
  where: string,
  scope: SchemaScope,
  depth: number,
) => Check | undefined;

const MAX_VIOLATIONS = 50;
/** So many names of an object or items of a list count as one step. */
const PARTS_PER_STEP = 8;
/** So many characters of a text. */
const CHARACTERS_PER_STEP = 256;

export function fail(run: Run, path: string, message: string): void {
  if (run.violations.length < MAX_VIOLATIONS) run.violations.push({ path, message });
}

/** Call before work on every part of a value: a schema may ask for it thousands of times. False if the budget has not enough left. */
export function spendOnParts(run: Run, parts: number): boolean {
  run.budget -= parts / PARTS_PER_STEP;
  return run.budget > 0;
}
export function spendOnText(run: Run, { length }: string): boolean {
  run.budget -= length / CHARACTERS_PER_STEP;
  return run.budget > 0;
}

/** The names of an object, looked up once per event. */
export function keysOf(one: object, run: Run): readonly string[] {
  run.keys ??= new Map();
  let keys = run.keys.get(one);
  if (keys === undefined) {
    keys = Object.keys(one);
    run.keys.set(one, keys);
  }
  return keys;
}

/** Tests the value without recording violations. */
export function passes(check: Check, value: unknown, path: string, run: Run): boolean {
  const kept = run.violations;
  run.violations = [];
  check(value, path, run);
  const ok = run.violations.length === 0;
  run.violations = kept;
  return ok;
}
