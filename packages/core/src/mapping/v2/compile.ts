import { type CanonicalEvent, eventKey, findByEventKey } from '../../event/canonical.ts';
import type { ConditionTest } from '../../filter/condition.ts';
import type { Steps } from '../../steps.ts';
import { endQuota, isQuotaSpent, isStepLong, MAX_WRITTEN, quotaInSteps, startQuota, startStepQuota, weigh } from '../../value-size.ts';
import type { RunState } from '../field.ts';
import type { CompiledMapping, Mapped, MappingOptions, RunContext } from '../result.ts';
import { Checks, join } from '../validate/checks.ts';
import { type CompileContext, compileEntry, compileParts, compileVendorName, type Parts, type RunEntry, TOO_LARGE } from './entry.ts';

const GLOBAL_KEYS = ['mappings', 'enrichments', 'filter', 'transforms'];
const ENTRY_KEYS = ['vendor_event_name', 'enabled', 'filter', 'enrichments', 'mappings', 'transforms'];
const DEFAULTS_KEYS = ['action', 'vendor_event_name', 'filter', 'enrichments', 'mappings', 'transforms'];
const MAX_EVENTS = 1_000;
const MAX_ALTERNATIVES = 50;

interface Entry {
  filter: ConditionTest | undefined;
  entry: RunEntry;
}
const FILTERED: Mapped = Object.freeze({ kind: 'dropped', reason: 'mapping_filter' });
const PASS: RunEntry = { run: (event) => ({ kind: 'pass_through', event }) };
const UNMAPPED: Mapped = Object.freeze({ kind: 'dropped', reason: 'mapping_default' });
const DROP: RunEntry = { run: () => UNMAPPED };
const FILTER: RunEntry = { run: () => FILTERED };

/**
 * Version 2: `global`, `events`, `defaults`. Filters see the original event. Enrichments work on a copy. Then all mappings run
 * together, global ones first, followed by the payload's transforms. A disabled entry drops its events (`mapping_filter`), because
 * disabling an event must not send it through the defaults.
 */
export function* compileV2(config: Record<string, unknown>, options: MappingOptions): Steps<CompiledMapping> {
  const { where = '', default_action: defaultAction = 'drop', parameters = {} } = options;
  const checks = new Checks();
  const state: RunState = { run: 0, missing: undefined, failed: undefined };
  const context: CompileContext = { checks, state, roots: { parameters }, reads: new Map(), parents: new Map(), whens: new Map() };
  const global = yield* compileGlobal(config.global, join(where, 'global'), context);
  yield;
  const events = yield* compileEvents(config.events, join(where, 'events'), global, context);
  const otherwise = yield* compileDefaults(config.defaults, join(where, 'defaults'), defaultAction, global, context);
  if (checks.faults.length > 0) return { ok: false, faults: checks.faults };
  const pass = global.filter;
  const folded = foldNames(events);
  const choose = (event: CanonicalEvent): RunEntry => {
    if (pass && !pass(event)) return FILTER;
    const entries = findByEventKey(events, event) ?? folded.get(fold(eventKey(event))) ?? otherwise;
    for (const { filter, entry } of entries) if (filter === undefined || filter(event)) return entry;
    return FILTER;
  };
  let runs = 0;
  function run(event: CanonicalEvent, running: RunContext | undefined, oneStep: boolean): Mapped {
    state.run = ++runs;
    state.missing = undefined;
    state.failed = undefined;
    const bytes = running?.bytes ?? weigh(event, Number.POSITIVE_INFINITY);
    if (oneStep) startStepQuota(bytes);
    else startQuota(bytes);
    try {
      const mapped = choose(event).run(event, bytes);
      return isQuotaSpent() ? TOO_LARGE : mapped;
    } finally {
      endQuota();
    }
  }
  return {
    ok: true,
    passes_all: otherwise[0]?.entry === PASS && otherwise[0].filter === undefined && events.size === 0 && pass === undefined,
    run: (event, running) => run(event, running, false),
    runAtOnce: (event, running) => run(event, running, true),
    *runInSteps(event, running) {
      let own: RunState = { run: ++runs, missing: undefined, failed: undefined };
      const bytes = running?.bytes ?? weigh(event, Number.POSITIVE_INFINITY);
      const steps = quotaInSteps(bytes, MAX_WRITTEN, chosenInSteps(event, bytes));
      for (;;) {
        Object.assign(state, own);
        const step = steps.next();
        if (step.done) return step.value;
        own = { ...state };
        yield;
      }
    },
  };

  function* chosenInSteps(event: CanonicalEvent, bytes: number): Steps<Mapped> {
    const entry = choose(event);
    if (isStepLong()) yield;
    const mapped = entry.runInSteps ? yield* entry.runInSteps(event, bytes) : entry.run(event, bytes);
    return isQuotaSpent() ? TOO_LARGE : mapped;
  }
}

/** `order completed ` matches `Order Completed`, unless there is a mapping for its exact name. */
function fold(name: string): string {
  return name.trim().toLowerCase();
}

/** If several names differ only in case, the first one wins. */
function foldNames(events: ReadonlyMap<string, Entry[]>): Map<string, Entry[]> {
  const folded = new Map<string, Entry[]>();
  for (const [name, entries] of events) if (!folded.has(fold(name))) folded.set(fold(name), entries);
  return folded;
}

function* compileGlobal(input: unknown, where: string, context: CompileContext): Steps<Parts> {
  const global = input === undefined || input === null ? {} : context.checks.object(input, where, GLOBAL_KEYS, 'global');
  return yield* compileParts(global ?? {}, where, context);
}

/** Enabled entries, in order. A name whose entries are all disabled stays in the map with an empty list. */
function* compileEvents(input: unknown, where: string, global: Parts, context: CompileContext): Steps<Map<string, Entry[]>> {
  const { checks } = context;
  const events = new Map<string, Entry[]>();
  if (input === undefined || input === null) return events;
  if (typeof input !== 'object' || Array.isArray(input)) {
    checks.fault(where, 'must be an object: its keys are event names, @page, @screen, @identify, @alias or @group');
    return events;
  }
  const names = Object.entries(input);
  if (names.length > MAX_EVENTS) checks.fault(where, `There may be at most ${MAX_EVENTS} events.`);
  for (const [name, value] of names.slice(0, MAX_EVENTS)) {
    const at = join(where, name);
    if (name === '') checks.fault(at, 'The name of an event must not be empty.');
    const list = Array.isArray(value) ? checks.list(value, at, MAX_ALTERNATIVES) : [value];
    if (list.length === 0) checks.fault(at, 'At least one entry is needed.');
    const entries: (Entry | undefined)[] = [];
    for (const [i, entry] of list.entries()) {
      entries.push(yield* compileOne(entry, Array.isArray(value) ? `${at}[${i}]` : at, global, context));
      yield;
    }
    events.set(
      name,
      entries.filter((entry) => entry !== undefined),
    );
  }
  return events;
}

function* compileOne(input: unknown, where: string, global: Parts, context: CompileContext): Steps<Entry | undefined> {
  const { checks } = context;
  const entry = checks.object(input, where, ENTRY_KEYS, 'An entry of events');
  if (!entry) return undefined;
  const enabled = checks.boolean(entry.enabled, join(where, 'enabled'), true);
  const parts = yield* compileParts(entry, where, context);
  const name = compileVendorName(entry.vendor_event_name, join(where, 'vendor_event_name'), context);
  const compiled = yield* compileEntry([global, parts], name, where, context);
  return enabled ? { filter: parts.filter, entry: compiled } : undefined;
}

function* compileDefaults(
  input: unknown,
  where: string,
  fallback: 'pass_through' | 'drop',
  global: Parts,
  context: CompileContext,
): Steps<[Entry]> {
  const { checks } = context;
  const defaults = input === undefined || input === null ? {} : (checks.object(input, where, DEFAULTS_KEYS, 'defaults') ?? {});
  const action =
    defaults.action === undefined || defaults.action === null
      ? fallback
      : checks.oneOf(defaults.action, join(where, 'action'), ['pass_through', 'drop', 'map'] as const);
  const parts = yield* compileParts(defaults, where, context);
  const name = compileVendorName(defaults.vendor_event_name, join(where, 'vendor_event_name'), context);
  const { filter } = parts;
  if (action === 'map') return [{ filter, entry: yield* compileEntry([global, parts], name, where, context) }];
  if (action === 'pass_through') return [{ filter, entry: PASS }];
  return [{ filter: undefined, entry: DROP }];
}
