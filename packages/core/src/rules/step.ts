/** Compiles one rule to a function from event to event. Rules of transformations and steps of V1 mappings are the same. */
import { compileExpression } from '../expression/expression.ts';
import type { ConditionTest } from '../filter/condition.ts';
import { deeperThan, MAX_DEPTH } from '../json.ts';
import { ownCopy } from '../mapping/copy.ts';
import { compileValueMap, compileWhen } from '../mapping/field.ts';
import { withoutHoles } from '../mapping/v2/leaf.ts';
import { type Checks, join } from '../mapping/validate/checks.ts';
import { compileDeleter, compileGetter, compileSetter, parsePath } from '../path/path.ts';
import { compileTransforms } from '../transforms/compile.ts';
import { MAX_WRITTEN, weigh } from '../value-size.ts';

export type StepResult =
  /** `changed` is absent if the step had nothing to do. `wrote`: how much it wrote, as `weigh` counts. */
  | { kind: 'event'; event: unknown; changed?: string; wrote?: number }
  | { kind: 'dropped' }
  /** The step had no input value, or produced none. */
  | { kind: 'nothing'; reason: string };
export type Step = (event: unknown) => StepResult;
export type StepType = 'set' | 'rename' | 'delete' | 'map' | 'filter' | 'compute' | 'transform' | 'enrich';

type Input = Record<string, unknown>;
type Compile = (input: Input, where: string, checks: Checks) => Step | undefined;

const DROPPED: StepResult = Object.freeze({ kind: 'dropped' });

const STEPS: Readonly<Record<StepType, { keys: readonly string[]; compile: Compile }>> = {
  set: { keys: ['target', 'value'], compile: compileSet },
  enrich: { keys: ['target', 'value'], compile: compileSet },
  rename: { keys: ['source', 'target'], compile: compileRename },
  delete: { keys: ['target'], compile: compileDelete },
  map: { keys: ['source', 'target', 'transforms', 'value_map', 'default'], compile: compileMap },
  transform: { keys: ['target', 'transforms'], compile: compileTransform },
  compute: { keys: ['target', 'expression'], compile: compileCompute },
  filter: { keys: [], compile: compileFilter },
};

function compileSet(input: Input, where: string, checks: Checks): Step | undefined {
  const write = setterOf(input.target, join(where, 'target'), checks);
  const { value } = input;
  if (value === undefined) checks.fault(join(where, 'value'), 'A value is needed.');
  // Each event gets its own copy, because a later rule may write into it.
  return write && ((event) => write(event, ownCopy(value)));
}

/** With several sources, the first that is present is moved. */
function compileRename(input: Input, where: string, checks: Checks): Step | undefined {
  const write = setterOf(input.target, join(where, 'target'), checks);
  const sources: unknown[] = Array.isArray(input.source) ? input.source : [input.source];
  const moves: { read: (event: unknown) => unknown; without: (event: unknown) => unknown }[] = [];
  for (const source of sources) {
    const read = getterOf(source, join(where, 'source'), checks);
    const deleter = read && compileDeleter(source as string);
    if (!read || !deleter) continue;
    const gapless = readsEach(source) && !readsEach(input.target);
    if (deleter.ok) moves.push({ read: gapless ? (event) => withoutHoles(read(event)) : read, without: deleter.without });
    else checks.fault(join(where, 'source'), deleter.message);
  }
  if (sources.length === 0) checks.fault(join(where, 'source'), 'A path is needed.');
  if (!write || moves.length < sources.length) return undefined;
  return (event) => {
    for (const { read, without } of moves) {
      const value = read(event);
      if (value !== undefined && value !== null) return write(without(event), value);
    }
    return nothing(`${sources.join(', ')} is missing`);
  };
}

/** A `[*]` source gives a list without gaps, unless it is written to the elements of a list and has to stay aligned with them. */
function readsEach(path: unknown): boolean {
  if (Array.isArray(path)) return path.some(readsEach);
  const parsed = typeof path === 'string' ? parsePath(path) : undefined;
  return parsed?.ok === true && parsed.segments.some(({ kind }) => kind === 'each');
}

function compileDelete(input: Input, where: string, checks: Checks): Step | undefined {
  const { target } = input;
  const deleter =
    typeof target === 'string' ? compileDeleter(target) : ({ ok: false, message: 'The path of the target is needed.' } as const);
  if (!deleter.ok) {
    checks.fault(join(where, 'target'), deleter.message);
    return undefined;
  }
  return (event) => {
    const after = deleter.without(event);
    return after === event ? nothing(`${target} is missing`) : { kind: 'event', event: after, changed: target as string };
  };
}

function compileMap(input: Input, where: string, checks: Checks): Step | undefined {
  const read = getterOf(input.source, join(where, 'source'), checks);
  const write = setterOf(input.target, join(where, 'target'), checks);
  const transforms = compileTransforms(input.transforms, join(where, 'transforms'), checks.faults);
  const map = compileValueMap(input.value_map, join(where, 'value_map'), checks);
  const fallback = input.default === null ? undefined : input.default;
  const gapless = readsEach(input.source) && !readsEach(input.target);
  if (!read || !write) return undefined;
  return (event) => {
    let value = read(event);
    if (value === null) value = undefined;
    if (transforms) value = transforms(value, event);
    if (map) value = map(value, event);
    if (gapless) value = withoutHoles(value);
    if (value === undefined) value = ownCopy(fallback);
    return value === undefined ? nothing(`there is no value for ${input.target}`) : write(event, value);
  };
}

function compileTransform(input: Input, where: string, checks: Checks): Step | undefined {
  if (!Array.isArray(input.transforms) || input.transforms.length === 0)
    checks.fault(join(where, 'transforms'), 'At least one transform is needed.');
  return compileMap({ source: input.target, target: input.target, transforms: input.transforms }, where, checks);
}

function compileCompute(input: Input, where: string, checks: Checks): Step | undefined {
  const write = setterOf(input.target, join(where, 'target'), checks);
  const expression = compileExpression(input.expression);
  if (!expression.ok) checks.fault(join(where, 'expression'), expression.message);
  if (!write || !expression.ok) return undefined;
  return (event) => {
    const value = expression.evaluate(event);
    return value === undefined ? nothing(`${input.target} has no computed value`) : write(event, ownCopy(value));
  };
}

/** Keeps events that match. */
function compileFilter(input: Input, where: string, checks: Checks): Step | undefined {
  const test = compileWhen(input.condition, join(where, 'condition'), checks);
  if (input.condition === undefined || input.condition === null) checks.fault(join(where, 'condition'), 'A condition is needed.');
  return test && ((event) => (test(event) ? { kind: 'event', event } : DROPPED));
}

export interface StepOptions {
  types: readonly StepType[];
  /** Allowed keys besides those of the type. */
  extra?: readonly string[];
  /** Subject of fault messages. */
  what: string;
}

/** On every type except a filter, `condition` decides whether the step applies. */
export function compileStep(input: unknown, where: string, checks: Checks, options: StepOptions): Step | undefined {
  const type = typeof input === 'object' && input !== null ? (input as Input).type : undefined;
  const known = options.types.find((one) => one === type);
  if (!known) {
    checks.fault(join(where, 'type'), `${options.what} has a type: one of ${options.types.join(', ')}.`);
    return undefined;
  }
  const { keys, compile } = STEPS[known];
  const step = checks.object(input, where, ['type', ...keys, 'condition', ...(options.extra ?? [])], options.what);
  if (!step) return undefined;
  const run = compile(step, where, checks);
  if (known === 'filter' || !run) return run;
  const condition = compileWhen(step.condition, join(where, 'condition'), checks);
  return condition ? onlyIf(condition, run) : run;
}

function onlyIf(condition: ConditionTest, run: Step): Step {
  return (event) => (condition(event) ? run(event) : { kind: 'event', event });
}

function getterOf(source: unknown, where: string, checks: Checks): ((event: unknown) => unknown) | undefined {
  if (typeof source !== 'string' && !(Array.isArray(source) && source.every((path) => typeof path === 'string'))) {
    checks.fault(where, 'A path is needed.');
    return undefined;
  }
  const getter = compileGetter(source as string | string[]);
  if (getter.ok) return getter.get;
  checks.fault(where, getter.message);
  return undefined;
}

function setterOf(target: unknown, where: string, checks: Checks): ((event: unknown, value: unknown) => StepResult) | undefined {
  if (typeof target !== 'string') {
    checks.fault(where, 'The path of the target is needed.');
    return undefined;
  }
  const setter = compileSetter(target);
  if (setter.ok) {
    const levels = MAX_DEPTH - setter.segments.length;
    return (event, value) => {
      // Rules that each put the event into a part of it would nest until nothing can write it as JSON.
      if (deeperThan(value, levels)) return nothing(`${target} would be nested deeper than ${MAX_DEPTH} levels`);
      return { kind: 'event', event: setter.with(event, value), changed: target, wrote: weigh(value, MAX_WRITTEN) };
    };
  }
  checks.fault(where, setter.message);
  return undefined;
}

function nothing(reason: string): StepResult {
  return { kind: 'nothing', reason };
}
