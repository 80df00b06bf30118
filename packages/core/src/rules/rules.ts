import type { CanonicalEvent } from '../event/canonical.ts';
import { Checks, join } from '../mapping/validate/checks.ts';
import { parsePath, type Segment } from '../path/path.ts';
import { endQuota, isQuotaSpent, MAX_WRITTEN, quotaLeft, READ_TOO_MUCH, startQuota, WROTE_TOO_MUCH, weigh } from '../value-size.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { compileStep, type Step } from './step.ts';

export type RulesResult =
  | { kind: 'event'; event: CanonicalEvent; changed: string[] }
  | { kind: 'dropped' }
  | { kind: 'failed'; reason: string };
export type CompiledRules = { ok: true; apply(event: CanonicalEvent): RulesResult } | { ok: false; faults: ConfigFault[] };

const TYPES = ['set', 'rename', 'delete', 'map', 'filter', 'compute'] as const;
const MAX_RULES = 500;
/** Later steps, deduplication and traces depend on these fields, so rules must not change them. */
const FIXED = ['event_id', 'type'];
const NEEDED = [...FIXED, 'timestamp', 'context'];

/**
 * Compiles the rules of a transformation into one function that runs them in order. The given event is never modified: writes copy the
 * path they change. A rule without input leaves the event unchanged.
 */
export function compileRules(rules: unknown): CompiledRules {
  const checks = new Checks();
  const steps: Step[] = [];
  for (const [i, rule] of checks.list(rules, 'rules', MAX_RULES).entries()) {
    const at = `rules[${i}]`;
    const step = compileStep(rule, at, checks, { types: TYPES, what: 'A rule' });
    checkTargets(rule, at, checks);
    if (step) steps.push(step);
  }
  if (checks.faults.length > 0) return { ok: false, faults: checks.faults };
  return {
    ok: true,
    apply(event) {
      // Rules count what they write themselves; the quota also bounds what they read.
      startQuota(weigh(event, MAX_WRITTEN));
      try {
        const result = run(event);
        return isQuotaSpent() ? { kind: 'failed', reason: quotaLeft() < 0 ? WROTE_TOO_MUCH : READ_TOO_MUCH } : result;
      } finally {
        endQuota();
      }
    },
  };

  function run(event: CanonicalEvent): RulesResult {
    let current: unknown = event;
    let written = 0;
    const changed: string[] = [];
    for (const step of steps) {
      const result = step(current);
      if (result.kind === 'dropped') return { kind: 'dropped' };
      if (result.kind === 'nothing') continue;
      written += result.wrote ?? 0;
      if (written > MAX_WRITTEN) return { kind: 'failed', reason: WROTE_TOO_MUCH };
      current = result.event;
      if (result.changed !== undefined) changed.push(result.changed);
    }
    return { kind: 'event', event: current as CanonicalEvent, changed };
  }
}

function pathOf(text: string): readonly Segment[] {
  const parsed = parsePath(text);
  return parsed.ok ? parsed.segments : [];
}

function checkTargets(rule: unknown, where: string, checks: Checks): void {
  const { type, target, source } = (typeof rule === 'object' && rule !== null ? rule : {}) as Record<string, unknown>;
  const refuse = (path: unknown, key: string, names: readonly string[], message: string) => {
    const [first, ...rest] = typeof path === 'string' ? pathOf(path) : [];
    if (first?.kind === 'key' && names.includes(first.key) && (rest.length === 0 || FIXED.includes(first.key))) {
      checks.fault(join(where, key), `${first.key} ${message}`);
    }
  };
  if (type === 'delete') refuse(target, 'target', NEEDED, 'cannot be removed.');
  else {
    refuse(target, 'target', FIXED, 'cannot be changed.');
    const [first] = typeof target === 'string' ? pathOf(target) : [];
    if (first !== undefined && first.kind !== 'key') checks.fault(join(where, 'target'), 'A target begins with a field of the event.');
  }
  if (type === 'rename') for (const path of Array.isArray(source) ? source : [source]) refuse(path, 'source', NEEDED, 'cannot be removed.');
}
