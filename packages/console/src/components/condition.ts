/** A stored condition as its editor shows it: groups of comparisons, each part with the path that faults name. */
import type { Condition, ConditionOp } from '@firsthand/core/config/rules.ts';
import { writeLooseList } from './loose-value.ts';

export type GroupKind = 'all' | 'any' | 'none';
export interface Group {
  kind: GroupKind;
  parts: { condition: unknown; where: string }[];
}
export const OPERATORS: Record<ConditionOp, string> = {
  eq: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  in: 'is one of',
  not_in: 'is none of',
  contains: 'contains',
  starts_with: 'starts with',
  ends_with: 'ends with',
  matches: 'matches',
  exists: 'exists',
  not_exists: 'is missing',
};
export const takesValue = (op: unknown): boolean => op !== 'exists' && op !== 'not_exists';
export const takesList = (op: unknown): boolean => op === 'in' || op === 'not_in';
/** The value is a text, whatever it looks like. */
export const takesText = (op: unknown): boolean => op === 'starts_with' || op === 'ends_with' || op === 'matches';

export const NEW_COMPARISON: Condition = { field: '', op: 'eq', value: '' };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for a comparison. `{not: …}` is “none of these”. */
export function readGroup(condition: unknown, where: string): Group | undefined {
  if (!isObject(condition)) return undefined;
  for (const kind of ['all', 'any'] as const) {
    const list = condition[kind];
    if (Array.isArray(list)) return { kind, parts: list.map((one, at) => ({ condition: one, where: `${where}.${kind}[${at}]` })) };
  }
  if (!Object.hasOwn(condition, 'not')) return undefined;
  const inner = readGroup(condition.not, `${where}.not`);
  return { kind: 'none', parts: inner?.kind === 'any' ? inner.parts : [{ condition: condition.not, where: `${where}.not` }] };
}
export function writeGroup(kind: GroupKind, parts: readonly unknown[]): Condition {
  const conditions = parts as Condition[];
  return kind === 'none' ? { not: { any: conditions } } : kind === 'any' ? { any: conditions } : { all: conditions };
}

/** One line: `properties.total > 0 and event = Order Completed`. */
export function conditionText(condition: unknown, inside = false): string {
  const group = readGroup(condition, '');
  if (group === undefined) {
    const { field, op, value } = (isObject(condition) ? condition : {}) as { field?: unknown; op?: unknown; value?: unknown };
    const word = OPERATORS[op as ConditionOp] ?? String(op);
    return [String(field ?? ''), word, ...(takesValue(op) ? [writeLooseList(value)] : [])].join(' ');
  }
  if (group.parts.length === 0) return group.kind === 'any' ? 'never' : 'always';
  const texts = group.parts.map((part) => conditionText(part.condition, group.parts.length > 1));
  const text = texts.join(group.kind === 'all' ? ' and ' : ' or ');
  if (group.kind === 'none') return `not (${text})`;
  return inside && texts.length > 1 ? `(${text})` : text;
}
