import type { Output } from './output.ts';

/** The meaning of names at one place of a template: the current value, the outer scope, and the variables of the loop. */
export interface Scope {
  /** Counts the work of expressions, which write nothing themselves. */
  out: Output;
  value: unknown;
  outer: Scope | undefined;
  /** `@index`, `@key`, `@first`, `@last`. */
  data: Record<string, unknown>;
  /** Names given by `as |item index|`. */
  locals: Record<string, unknown>;
}

const NOTHING: Record<string, unknown> = Object.freeze(Object.create(null));

export function rootScope(value: unknown, out: Output): Scope {
  return { out, value, outer: undefined, data: NOTHING, locals: NOTHING };
}

export function innerScope(
  outer: Scope,
  value: unknown,
  data: Record<string, unknown> = outer.data,
  names: readonly string[] = [],
  values: unknown[] = [],
): Scope {
  if (names.length === 0) return { out: outer.out, value, outer, data, locals: outer.locals };
  const locals: Record<string, unknown> = Object.assign(Object.create(null), outer.locals);
  for (const [i, name] of names.entries()) locals[name] = values[i];
  return { out: outer.out, value, outer, data, locals };
}

export function rootOf(scope: Scope): unknown {
  let at = scope;
  while (at.outer) at = at.outer;
  return at.value;
}

/** Own properties only. `length` is an own property of a list. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** Falsy as Handlebars defines it: also an empty list, and zero. */
export function isFalsy(value: unknown, includeZero = false): boolean {
  if (value === 0 && includeZero) return false;
  return !value || (Array.isArray(value) && value.length === 0);
}
