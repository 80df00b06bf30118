/** Compiles an entry of `events` (or `defaults` with its mappings) to a function that runs on one event. */
import type { CanonicalEvent } from '../../event/canonical.ts';
import { ALWAYS, type ConditionTest, NEVER } from '../../filter/condition.ts';
import { deeperThan, isObject, MAX_DEPTH } from '../../json.ts';
import { compileDeleter, compileGetter, compileSetter, type Getter, type Roots } from '../../path/path.ts';
import type { Steps } from '../../steps.ts';
import { compileTemplate } from '../../template/template.ts';
import { compileTransforms } from '../../transforms/compile.ts';
import { isQuotaSpent, isStepLong, PAYLOAD_TOO_LARGE, quotaLeft, weigh } from '../../value-size.ts';
import { compileField, compileWhen, type Field, type RunState } from '../field.ts';
import type { Mapped } from '../result.ts';
import { type Checks, join } from '../validate/checks.ts';
import { isEmpty, type Read, readField, withoutHoles } from './leaf.ts';
import { compileTree } from './tree.ts';

const MAX_LINES = 1_000;
/** Of all targets of an entry. */
const MAX_TARGET_PARTS = 10_000;
/** Between two yields. */
const LINES_PER_STEP = 50;

export interface CompileContext {
  checks: Checks;
  roots: Roots;
  state: RunState;
  reads: Map<Field, Read>;
  parents: Map<string, Getter>;
  /** Conditions of mapping lines, by their text: many lines of a vendor have the same one. */
  whens: Map<string, ConditionTest>;
}
/** Returns null if a required value is missing; the run state has the details. */
type Enrich = (event: unknown) => unknown;
type PostTransform = (payload: unknown, event: unknown) => unknown;
export interface Parts {
  filter: ConditionTest | undefined;
  enrichments: Enrich[];
  fields: Field[];
  /** Config path of each field, for faults that only appear once all fields are combined. */
  places: Map<Field, string>;
  post: PostTransform[];
}

export function* compileParts(input: Record<string, unknown>, where: string, context: CompileContext): Steps<Parts> {
  const { checks, roots, state } = context;
  const places = new Map<Field, string>();
  const fields: Field[] = [];
  for (const [i, line] of checks.list(input.mappings, join(where, 'mappings'), MAX_LINES).entries()) {
    if (i % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
    const at = `${join(where, 'mappings')}[${i}]`;
    const field = compileField(line, at, checks, { roots, state, root_target: true });
    // The parameters rule the line out.
    if (!field || field.when === NEVER) continue;
    if (field.when) field.when = sharedWhen(field.when, line, context);
    places.set(field, at);
    fields.push(field);
  }
  const enrichments = yield* compileLines(input.enrichments, join(where, 'enrichments'), context, compileEnrichment);
  const post = yield* compileLines(input.transforms, join(where, 'transforms'), context, compilePost);
  return { filter: compileWhen(input.filter, join(where, 'filter'), checks, roots), enrichments, fields, places, post };
}

function* compileLines<T>(
  input: unknown,
  where: string,
  context: CompileContext,
  compile: (line: unknown, where: string, context: CompileContext) => T | undefined,
): Steps<T[]> {
  const compiled: T[] = [];
  for (const [i, line] of context.checks.list(input, where, MAX_LINES).entries()) {
    if (i % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
    const one = compile(line, `${where}[${i}]`, context);
    if (one !== undefined) compiled.push(one);
  }
  return compiled;
}

/** Evaluates the condition at most once per event, however many lines have it. */
function sharedWhen(test: ConditionTest, line: unknown, { whens, state }: CompileContext): ConditionTest | undefined {
  if (test === ALWAYS) return undefined;
  const text = JSON.stringify(isObject(line) ? line.when : undefined);
  const known = whens.get(text);
  if (known) return known;
  let run = -1;
  let result = false;
  const shared: ConditionTest = (event) => {
    if (run !== state.run) {
      result = test(event);
      run = state.run;
    }
    return result;
  };
  whens.set(text, shared);
  return shared;
}

function compileEnrichment(line: unknown, where: string, { checks, roots, state }: CompileContext): Enrich | undefined {
  const field = compileField(line, where, checks, { roots, state, root_target: false });
  if (!field) return undefined;
  const setter = compileSetter(field.target_text);
  if (!setter.ok) return undefined;
  const read = readField(
    field,
    undefined,
    roots,
    field.target.some((segment) => segment.kind === 'each'),
  );
  const levels = MAX_DEPTH - setter.segments.length;
  return (event) => {
    if (field.when && !field.when(event)) return event;
    const value = read(event, event);
    // As in rules: lines that each put the event into a part of it would nest it without end.
    if (value !== undefined && !deeperThan(value, levels)) return setter.with(event, value);
    if (field.required) state.missing ??= field.target_text;
    return event;
  };
}

/** A transform without a result removes its target, or in a list only the elements without a result. */
function compilePost(line: unknown, where: string, { checks, roots }: CompileContext): PostTransform | undefined {
  const post = checks.object(line, where, ['target', 'transforms', 'when'], 'A transform of the payload');
  if (!post) return undefined;
  const at = join(where, 'target');
  const apply = compileTransforms(post.transforms ?? [], join(where, 'transforms'), checks.faults, roots);
  const when = compileWhen(post.when, join(where, 'when'), checks, roots);
  if (typeof post.target !== 'string') {
    checks.fault(at, 'The path of the target is needed.');
    return undefined;
  }
  const getter = compileGetter(post.target);
  const setter = compileSetter(post.target);
  const deleter = compileDeleter(post.target);
  if (!getter.ok || !setter.ok || !deleter.ok) {
    checks.fault(at, getter.ok ? 'The payload itself cannot be transformed.' : getter.message);
    return undefined;
  }
  if (!apply) return undefined;
  const aligned = setter.segments.some((segment) => segment.kind === 'each');
  return (payload, event) => {
    if (when && !when(event)) return payload;
    const before = getter.get(payload);
    if (before === undefined || before === null) return payload;
    const result = apply(before, event);
    const after = aligned ? result : withoutHoles(result);
    const rest = Array.isArray(after) || after === undefined ? deleter.without(payload) : payload;
    return after === undefined ? rest : setter.with(rest, after);
  };
}

/** `bytes`: roughly the size of the event. */
export interface RunEntry {
  run(event: CanonicalEvent, bytes: number): Mapped;
  /** Absent where there is nothing to divide. */
  runInSteps?(event: CanonicalEvent, bytes: number): Steps<Mapped>;
}
export const TOO_LARGE: Mapped = Object.freeze({ kind: 'failed', reason: PAYLOAD_TOO_LARGE });

/** Combines the parts, in order of precedence (global first), into one function. */
export function* compileEntry(parts: readonly Parts[], name: Read | undefined, where: string, context: CompileContext): Steps<RunEntry> {
  const { roots, state, reads, parents } = context;
  const fields = parts.flatMap((part) => part.fields);
  if (fields.reduce((sum, { target }) => sum + target.length, 0) > MAX_TARGET_PARTS) {
    context.checks.fault(
      join(where, 'mappings'),
      `The targets of an entry, with those of global, may have at most ${MAX_TARGET_PARTS} parts together.`,
    );
    return { run: () => TOO_LARGE };
  }
  const tree = yield* compileTree(fields, { roots, state, reads, parents, conflict: conflictNamer(parts, context.checks) });
  const required = fields
    .filter((field) => field.required && field.target.some((segment) => segment.kind === 'each'))
    .map((field) => listCheck(field, roots));
  const enrichments = parts.flatMap((part) => part.enrichments);
  const post = parts.flatMap((part) => part.post);
  const lines = fields.length + post.length;
  const { build, inSteps } = tree;
  const fault = (): Mapped =>
    state.failed === undefined
      ? { kind: 'dropped', reason: `missing_required:${state.missing}` }
      : { kind: 'failed', reason: state.failed };
  const result = (payload: unknown, event: unknown, bytes: number, most: number): Mapped => {
    const vendorName = name?.(event, event);
    // No line can write a text that is longer than the event and everything that was made of it. Most payloads need no further look.
    if ((bytes + most - quotaLeft()) * lines > most && weigh(payload, most) > most) return TOO_LARGE;
    return typeof vendorName === 'string' ? { kind: 'payload', payload, vendor_event_name: vendorName } : { kind: 'payload', payload };
  };
  return {
    run(event, bytes) {
      const most = quotaLeft();
      let current: unknown = event;
      for (const enrich of enrichments) current = enrich(current);
      for (const check of required) state.missing ??= check(current);
      let payload: unknown = state.missing === undefined ? (build(current, current) ?? {}) : undefined;
      if (state.failed !== undefined || state.missing !== undefined) return fault();
      for (const change of post) payload = change(payload, current);
      return result(payload, current, bytes, most);
    },
    *runInSteps(event, bytes) {
      const most = quotaLeft();
      let current: unknown = event;
      for (const enrich of enrichments) {
        if (isStepLong()) {
          if (isQuotaSpent()) return TOO_LARGE;
          yield;
        }
        current = enrich(current);
      }
      for (const check of required) {
        if (isStepLong()) yield;
        state.missing ??= check(current);
      }
      let payload: unknown;
      if (state.missing === undefined) payload = (inSteps ? yield* inSteps(undefined, current, current) : build(current, current)) ?? {};
      if (state.failed !== undefined || state.missing !== undefined) return fault();
      for (const change of post) {
        if (isStepLong()) {
          if (isQuotaSpent()) return TOO_LARGE;
          yield;
        }
        payload = change(payload, current);
      }
      if (isStepLong()) yield;
      return result(payload, current, bytes, most);
    },
  };
}

/** A separate function, so that the closures of an entry do not keep every field and its path in memory. */
function conflictNamer(parts: readonly Parts[], checks: Checks): (field: Field) => void {
  return (field) => {
    const at = join(parts.map((part) => part.places.get(field)).find((place) => place !== undefined) ?? '', 'target');
    // A global mapping is combined with every event, but its conflict is reported only once.
    if (!checks.faults.some((known) => known.field === at))
      checks.fault(at, 'This target is a list here and an object in another mapping.');
  };
}

/** A required list is present if at least one element has the value. */
function listCheck(field: Field, roots: Roots): (event: unknown) => string | undefined {
  const read = readField(field, undefined, roots, false);
  return (event) => (field.when?.(event) === false || !isEmpty(read(event, event)) ? undefined : field.target_text);
}

/** The name may be a template, such as `{{name}}` for pages. */
export function compileVendorName(input: unknown, where: string, { checks, roots, state }: CompileContext): Read | undefined {
  const text = checks.text(input, where);
  if (text === undefined) return undefined;
  if (!text.includes('{{')) return () => text;
  const compiled = compileTemplate(text, 'text', { roots, limit: 1_000 });
  if (!compiled.ok) {
    checks.fault(where, compiled.message);
    return undefined;
  }
  return (event) => {
    const rendered = compiled.render(event);
    if (rendered.ok) return rendered.text.trim() || undefined;
    state.failed ??= `${where}: ${rendered.reason}`;
    return undefined;
  };
}
