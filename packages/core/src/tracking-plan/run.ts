export interface Violation {
  path: string;
  message: string;
}
/** State of one event's check: the violations found and the remaining work budget. */
export interface Run {
  violations: Violation[];
  budget: number;
  depth: number;
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

export function fail(run: Run, path: string, message: string): void {
  if (run.violations.length < MAX_VIOLATIONS) run.violations.push({ path, message });
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
