import { asNumber } from '../filter/compare.ts';
import { isObject } from '../json.ts';
import { coerceTo } from '../mapping/parameters/coerce.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import { compileGetter, type Getter, type Roots } from '../path/path.ts';
import { bounded, type Cost, MAX_WRITTEN, mayReturn, mayTransform, mayWrite, weigh } from '../value-size.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import type { Transform, TransformArg } from './define.ts';
import { TRANSFORMS } from './index.ts';

/** The event is only used for arguments of the form `{"source": "<path>"}`. */
export type TransformFn = (value: unknown, event: unknown) => unknown;

const MAX_TRANSFORMS = 30;
const MAX_REST_ARGS = 200;

/**
 * Compiles a list of names or `{name, args}` into one function; undefined if the list is empty. Faults are added to `faults`. An
 * argument is a value, or `{"source": "<path>"}` to read it from the event (with a list of paths, the first one present).
 */
export function compileTransforms(uses: unknown, where: string, faults: ConfigFault[], roots?: Roots): TransformFn | undefined {
  if (uses === undefined || uses === null) return undefined;
  if (!Array.isArray(uses)) {
    faults.push({ field: where, message: 'A list of transforms is needed.' });
    return undefined;
  }
  if (uses.length > MAX_TRANSFORMS) faults.push({ field: where, message: `There may be at most ${MAX_TRANSFORMS} transforms.` });
  const steps: TransformFn[] = [];
  for (const [i, use] of uses.entries()) {
    const step = compileUse(use, `${where}[${i}]`, faults, roots);
    if (step) steps.push(step);
  }
  return chain(steps);
}

function chain(steps: readonly TransformFn[]): TransformFn | undefined {
  const [a, b] = steps;
  if (!a) return undefined;
  if (!b) return a;
  if (steps.length === 2) return (value, event) => b(a(value, event), event);
  return (value, event) => {
    let current = value;
    for (const step of steps) current = step(current, event);
    return current;
  };
}

function compileUse(use: unknown, where: string, faults: ConfigFault[], roots: Roots | undefined): TransformFn | undefined {
  const { name, args = [] }: { name?: unknown; args?: unknown } = isObject(use) ? use : { name: use };
  if (isObject(use)) {
    for (const key of Object.keys(use)) {
      if (key !== 'name' && key !== 'args') faults.push({ field: `${where}.${key}`, message: 'There is no such key in a transform.' });
    }
  }
  const transform = typeof name === 'string' ? TRANSFORMS.get(name) : undefined;
  if (!transform) {
    const message = typeof name === 'string' ? `There is no transform "${name.slice(0, 60)}".` : 'A transform is a name, or {name, args}.';
    faults.push({ field: where, message });
    return undefined;
  }
  if (!Array.isArray(args)) {
    faults.push({ field: `${where}.args`, message: 'A list of arguments is needed.' });
    return undefined;
  }
  const before = faults.length;
  const getters = compileArgs(transform, args, `${where}.args`, faults, roots);
  if (faults.length > before) return undefined;
  const step = bind(transform, getters, where, faults);
  const { cost, grows } = transform;
  return step && (grows ? (value, event) => (mayTransform(value, cost) ? grown(step(value, event)) : undefined) : counted(step, cost));
}

function counted(step: TransformFn, cost: Cost): TransformFn {
  return (value, event) => {
    const result = mayTransform(value, cost) ? step(value, event) : undefined;
    return result === value || mayReturn(result) ? result : undefined;
  };
}
function grown(value: unknown): unknown {
  const result = Array.isArray(value) ? value.map(bounded) : bounded(value);
  return mayReturn(result) && mayWrite(weigh(result, MAX_WRITTEN)) ? result : undefined;
}

/** `read` for an argument from the event, `value` for a constant. */
type Arg = { kind: 'value'; value: unknown } | { kind: 'read'; get: Getter };

function compileArgs(transform: Transform, args: unknown[], where: string, faults: ConfigFault[], roots: Roots | undefined): Arg[] {
  const specs = transform.args;
  const takesRest = specs.at(-1)?.rest === true;
  if (args.length > (takesRest ? MAX_REST_ARGS : specs.length)) {
    const message =
      specs.length === 0 ? `${transform.name} takes no arguments.` : `${transform.name} takes at most ${specs.length} arguments.`;
    faults.push({ field: where, message });
    return [];
  }
  const count = takesRest ? Math.max(args.length, specs.length) : specs.length;
  return Array.from({ length: count }, (_, i): Arg => {
    const spec = specs[Math.min(i, specs.length - 1)];
    if (!spec) return { kind: 'value', value: undefined };
    const given = args[i];
    const at = `${where}[${i}]`;
    if (given === undefined || given === null) {
      if (spec.default === undefined)
        faults.push({ field: at, message: `${transform.name} needs the argument ${spec.name}: ${spec.summary}.` });
      return { kind: 'value', value: spec.default };
    }
    const source = isObject(given) && Object.keys(given).length === 1 ? given.source : undefined;
    if (typeof source === 'string' || (Array.isArray(source) && source.every((path) => typeof path === 'string'))) {
      const compiled = compileGetter(source, roots);
      if (compiled.ok) return { kind: 'read', get: compiled.get };
      faults.push({ field: `${at}.source`, message: compiled.message });
    } else if (!fits(spec, spec.type === 'boolean' ? coerceTo('boolean', given) : given)) {
      faults.push({ field: at, message: `${spec.name} must be a ${spec.type}: ${spec.summary}.` });
    }
    return { kind: 'value', value: spec.type === 'string' ? given : coerceTo(spec.type, given) };
  });
}

function fits(spec: TransformArg, value: unknown): boolean {
  if (spec.type === 'string') return typeof value === 'string' || typeof value === 'number';
  if (hasPlaceholder(value)) return true;
  if (spec.type === 'number') return asNumber(value) !== undefined;
  return typeof value === 'boolean';
}

function bind(transform: Transform, args: readonly Arg[], where: string, faults: ConfigFault[]): TransformFn | undefined {
  const { apply, takes } = transform;
  if (args.some((arg) => arg.kind === 'read')) {
    return (value, event) => {
      const values = args.map((arg) => (arg.kind === 'read' ? arg.get(event) : arg.value));
      return over(takes, value, (one) => apply(one, values));
    };
  }
  const values = args.map((arg) => (arg as { value: unknown }).value);
  if (!transform.prepare) return lift(takes, (value) => apply(value, values));
  const prepared = transform.prepare(values);
  if (prepared.ok) return lift(takes, prepared.apply);
  faults.push({ field: `${where}.args[0]`, message: prepared.message });
  return undefined;
}

function lift(takes: Transform['takes'], apply: (value: unknown) => unknown): TransformFn {
  return takes === 'list'
    ? (value) => (value === undefined || value === null ? undefined : apply(value))
    : (value) => over(takes, value, apply);
}

function over(takes: Transform['takes'], value: unknown, apply: (value: unknown) => unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (takes === 'value' && Array.isArray(value)) return value.map((one) => (one === undefined || one === null ? undefined : apply(one)));
  return apply(value);
}
