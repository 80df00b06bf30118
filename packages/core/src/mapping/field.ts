/** One line of a mapping (or enrichment): the origin of a value, its changes, and its target. */

import { textOf } from '../filter/compare.ts';
import { type ConditionTest, compileCondition } from '../filter/condition.ts';
import { isObject } from '../json.ts';
import { compileGetter, compileSetter, type Roots, type Segment } from '../path/path.ts';
import { compileTemplate } from '../template/template.ts';
import { compileTransforms, type TransformFn } from '../transforms/compile.ts';
import { ownCopy } from './copy.ts';
import { type Checks, join } from './validate/checks.ts';

/** Faults of the current event. One record per mapping: divided runs put theirs back before each step. */
export interface RunState {
  /** Differs from event to event. */
  run: number;
  missing: string | undefined;
  failed: string | undefined;
}

export type Origin =
  | { kind: 'source'; paths: readonly (readonly Segment[])[] }
  | { kind: 'value'; value: unknown }
  | { kind: 'template'; render: (event: unknown) => string | undefined };

export interface Field {
  target: readonly Segment[];
  target_text: string;
  origin: Origin;
  /** Transforms and value map. Undefined if the value is copied unchanged. */
  change: TransformFn | undefined;
  fallback: unknown;
  /** Called after the enrichments only: the result is kept for the event. */
  when: ConditionTest | undefined;
  required: boolean;
}

export interface FieldOptions {
  roots: Roots;
  state: RunState;
  /** Whether the target may be `$`, the payload itself. */
  root_target: boolean;
}

const KEYS = ['target', 'source', 'value', 'template', 'transforms', 'value_map', 'default', 'required', 'when'];

export function compileField(input: unknown, where: string, checks: Checks, options: FieldOptions): Field | undefined {
  const before = checks.faults.length;
  const field = checks.object(input, where, KEYS, 'A mapping');
  if (!field) return undefined;
  const target = compileTarget(field.target, join(where, 'target'), checks, options);
  const origin = compileOrigin(field, where, checks, options);
  const transforms = compileTransforms(field.transforms, join(where, 'transforms'), checks.faults, options.roots);
  const map = compileValueMap(field.value_map, join(where, 'value_map'), checks);
  const required = checks.boolean(field.required, join(where, 'required'), false);
  const when = compileWhen(field.when, join(where, 'when'), checks, options.roots);
  if (checks.faults.length > before || !target || !origin) return undefined;
  const fallback = field.default === null ? undefined : field.default;
  return { target, target_text: field.target as string, origin, change: both(transforms, map), fallback, when, required };
}

function compileTarget(target: unknown, where: string, checks: Checks, options: FieldOptions): readonly Segment[] | undefined {
  if (typeof target !== 'string') {
    checks.fault(where, 'The path of the target is needed.');
    return undefined;
  }
  if (target === '$' && options.root_target) return [];
  const setter = compileSetter(target);
  if (setter.ok) return setter.segments;
  checks.fault(where, setter.message);
  return undefined;
}

function compileOrigin(field: Record<string, unknown>, where: string, checks: Checks, options: FieldOptions): Origin | undefined {
  const given = ['source', 'value', 'template'].filter((key) => field[key] !== undefined);
  if (given.length !== 1) {
    checks.fault(where, 'A mapping has exactly one of source, value and template.');
    return undefined;
  }
  if (given[0] === 'value') return { kind: 'value', value: field.value };
  if (given[0] === 'template') return compileTemplateOrigin(field.template, join(where, 'template'), checks, options);
  const { source } = field;
  const at = join(where, 'source');
  if (typeof source !== 'string' && !(Array.isArray(source) && source.every((path) => typeof path === 'string'))) {
    checks.fault(at, 'A path or a list of paths is needed.');
    return undefined;
  }
  const getter = compileGetter(source as string | string[], options.roots);
  if (getter.ok) return { kind: 'source', paths: getter.paths };
  checks.fault(typeof source === 'string' ? at : `${at}[${getter.index}]`, getter.message);
  return undefined;
}

function compileTemplateOrigin(template: unknown, where: string, checks: Checks, options: FieldOptions): Origin | undefined {
  if (typeof template !== 'string') {
    checks.fault(where, 'A text is needed.');
    return undefined;
  }
  const compiled = compileTemplate(template, 'text', { roots: options.roots });
  if (!compiled.ok) {
    checks.fault(where, compiled.message);
    return undefined;
  }
  const { state } = options;
  return {
    kind: 'template',
    // An empty result counts as missing, so that `default` and `required` also work for templates.
    render(event) {
      const rendered = compiled.render(event);
      if (rendered.ok) return rendered.text === '' ? undefined : rendered.text;
      state.failed ??= `${where}: ${rendered.reason}`;
      return undefined;
    },
  };
}

/** A value without an entry stays unchanged, unless `"*"` gives a replacement. Null in the map omits the value. */
export function compileValueMap(input: unknown, where: string, checks: Checks): TransformFn | undefined {
  if (input === undefined || input === null) return undefined;
  if (!isObject(input)) {
    checks.fault(where, 'A value map must be an object.');
    return undefined;
  }
  const { '*': rest, ...named } = input;
  const map = new Map(Object.entries(named));
  const hasRest = Object.hasOwn(input, '*');
  const one = (value: unknown): unknown => {
    if (value === undefined || value === null) return undefined;
    const text = textOf(value);
    const mapped = text !== undefined && map.has(text) ? map.get(text) : hasRest ? rest : value;
    return mapped === null ? undefined : mapped === value ? value : ownCopy(mapped);
  };
  return (value) => (Array.isArray(value) ? value.map(one) : one(value));
}

export function compileWhen(input: unknown, where: string, checks: Checks, roots?: Roots): ConditionTest | undefined {
  if (input === undefined || input === null) return undefined;
  const compiled = compileCondition(input, where, roots);
  if (compiled.ok) return compiled.test;
  checks.faults.push(...compiled.faults);
  return undefined;
}

function both(first: TransformFn | undefined, second: TransformFn | undefined): TransformFn | undefined {
  if (!first || !second) return first ?? second;
  return (value, event) => second(first(value, event), event);
}
