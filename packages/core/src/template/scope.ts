/** What names mean at one place of a template: the current value, the one around it, and what a loop knows of its turn. */
export interface Scope {
  value: unknown;
  outer: Scope | undefined;
  /** `@index`, `@key`, `@first`, `@last`. */
  data: Record<string, unknown>;
  /** Names given by `as |item index|`. */
  locals: Record<string, unknown>;
}

const NOTHING: Record<string, unknown> = Object.freeze(Object.create(null));

export function rootScope(value: unknown): Scope {
  return { value, outer: undefined, data: NOTHING, locals: NOTHING };
}

export function innerScope(
  outer: Scope,
  value: unknown,
  data: Record<string, unknown> = outer.data,
  names: readonly string[] = [],
  values: unknown[] = [],
): Scope {
  if (names.length === 0) return { value, outer, data, locals: outer.locals };
  const locals: Record<string, unknown> = Object.assign(Object.create(null), outer.locals);
  for (const [i, name] of names.entries()) locals[name] = values[i];
  return { value, outer, data, locals };
}

export function rootOf(scope: Scope): unknown {
  let at = scope;
  while (at.outer) at = at.outer;
  return at.value;
}

/** Only what an object or a list itself holds; a list's `length` is its own. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** Handlebars' idea of nothing: also an empty list, and zero. */
export function isFalsy(value: unknown, includeZero = false): boolean {
  if (value === 0 && includeZero) return false;
  return !value || (Array.isArray(value) && value.length === 0);
}
