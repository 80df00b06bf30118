import type { CanonicalEvent } from '../../event/canonical.ts';
import { compileStep, type Step } from '../../rules/step.ts';
import { finish, type Steps } from '../../steps.ts';
import {
  endQuota,
  isQuotaSpent,
  isStepLong,
  MAX_WRITTEN,
  PAYLOAD_TOO_LARGE,
  quotaInSteps,
  startQuota,
  startStepQuota,
  WROTE_TOO_MUCH,
  weigh,
} from '../../value-size.ts';
import { ownCopy } from '../copy.ts';
import type { CompiledMapping, Mapped, MappingOptions, RunContext } from '../result.ts';
import { Checks, join } from '../validate/checks.ts';

const TYPES = ['filter', 'map', 'transform', 'enrich', 'compute', 'set', 'rename', 'delete'] as const;
const ON_ERROR = ['skip', 'drop', 'fail'] as const;
const MAX_STEPS = 500;

interface LegacyStep {
  where: string;
  run: Step;
  on_error: (typeof ON_ERROR)[number];
}
const FILTERED: Mapped = Object.freeze({ kind: 'dropped', reason: 'mapping_filter' });

/**
 * Version 1: steps over the canonical event; the result is the payload. A step fails if it has no input value or produces none.
 * `on_error` then decides: continue without the step (`skip`, the default), drop the event, or fail it.
 */
export function* compileV1(config: Record<string, unknown>, { where = '' }: MappingOptions): Steps<CompiledMapping> {
  const checks = new Checks();
  const at = join(where, 'steps');
  const steps: LegacyStep[] = [];
  if (!Array.isArray(config.steps)) checks.fault(at, 'Version 1 needs a list of steps.');
  for (const [i, input] of (Array.isArray(config.steps) ? checks.list(config.steps, at, MAX_STEPS) : []).entries()) {
    yield;
    const place = `${at}[${i}]`;
    const run = compileStep(input, place, checks, { types: TYPES, extra: ['on_error'], what: 'A step' });
    const given = (input as { on_error?: unknown } | null)?.on_error ?? undefined;
    const onError = given === undefined ? 'skip' : checks.oneOf(given, join(place, 'on_error'), ON_ERROR);
    if (run && onError) steps.push({ where: place, run, on_error: onError });
  }
  if (checks.faults.length > 0) return { ok: false, faults: checks.faults };
  return {
    ok: true,
    run: (event, context) => runWith(startQuota, event, context),
    runAtOnce: (event, context) => runWith(startStepQuota, event, context),
    runInSteps: (event, context) => quotaInSteps(sizeOf(event, context), MAX_WRITTEN, run(event)),
  };

  function sizeOf(event: CanonicalEvent, context: RunContext | undefined): number {
    return context?.bytes ?? weigh(event, MAX_WRITTEN);
  }
  function runWith(start: (bytes: number) => void, event: CanonicalEvent, context: RunContext | undefined): Mapped {
    start(sizeOf(event, context));
    try {
      return finish(run(event));
    } finally {
      endQuota();
    }
  }
  function* run(event: CanonicalEvent): Steps<Mapped> {
    const mapped = yield* runSteps(event);
    return isQuotaSpent() ? { kind: 'failed', reason: PAYLOAD_TOO_LARGE } : mapped;
  }
  function* runSteps(event: CanonicalEvent): Steps<Mapped> {
    let current: unknown = event;
    let written = 0;
    for (const step of steps) {
      if (isStepLong()) yield;
      const result = step.run(current);
      if (result.kind === 'dropped') return FILTERED;
      if (result.kind === 'event') {
        written += result.wrote ?? 0;
        if (written > MAX_WRITTEN) return { kind: 'failed', reason: `${step.where}: ${WROTE_TOO_MUCH}` };
        current = result.event;
      } else if (step.on_error === 'drop') return FILTERED;
      else if (step.on_error === 'fail') return { kind: 'failed', reason: `${step.where}: ${result.reason}` };
    }
    // Copied because the caller may modify the payload, but an event that no step changed is still shared.
    return { kind: 'payload', payload: ownCopy(current) };
  }
}
