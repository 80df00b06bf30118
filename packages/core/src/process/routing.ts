/** Step 7b: the organisation's routing rules. The first rule whose condition holds decides. */
import type { DataLayerConfig } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import type { Decision, DropReason } from '../outcome/outcome.ts';
import { endQuota, isQuotaSpent, MAX_WRITTEN, READ_TOO_MUCH, startQuota, weigh } from '../value-size.ts';
import type { ConfigFault } from '../vendor/compiled.ts';

export interface CompiledRoutingRule {
  test: (event: unknown) => boolean;
  action: 'drop' | 'pass';
  /** Undefined means every pipeline. */
  pipeline_ids: ReadonlySet<string> | undefined;
  index: number;
}

/** A rule that does not compile is skipped and its faults are reported. */
export function compileRouting(rules: DataLayerConfig['routing_rules'], faults: ConfigFault[]): CompiledRoutingRule[] {
  const compiled: CompiledRoutingRule[] = [];
  for (const [index, rule] of rules.entries()) {
    const condition = compileCondition(rule.condition, `routing_rules[${index}].condition`);
    if (!condition.ok) {
      faults.push(...condition.faults);
      continue;
    }
    const scope = rule.pipeline_ids;
    compiled.push({ test: condition.test, action: rule.action, pipeline_ids: scope?.length ? new Set(scope) : undefined, index });
  }
  return compiled;
}

export type Routed = { kind: 'passed' } | { kind: 'dropped'; reason: DropReason } | { kind: 'failed'; reason: string };
const PASSED: Routed = Object.freeze({ kind: 'passed' });
const FAILED: Routed = Object.freeze({ kind: 'failed', reason: `routing: ${READ_TOO_MUCH}` });

/** Conditions may read as much of an event as the rules of a transformation. Beyond that nobody knows what they would decide. */
export function applyRouting(
  event: CanonicalEvent,
  pipelineId: string,
  rules: readonly CompiledRoutingRule[],
  decisions: Decision[],
): Routed {
  if (rules.length === 0) return PASSED;
  startQuota(weigh(event, MAX_WRITTEN));
  try {
    const routed = decide(event, pipelineId, rules, decisions);
    return isQuotaSpent() ? FAILED : routed;
  } finally {
    endQuota();
  }
}

function decide(event: CanonicalEvent, pipelineId: string, rules: readonly CompiledRoutingRule[], decisions: Decision[]): Routed {
  for (const rule of rules) {
    if (rule.pipeline_ids !== undefined && !rule.pipeline_ids.has(pipelineId)) continue;
    const applies = rule.test(event);
    if (isQuotaSpent()) break;
    if (!applies) continue;
    decisions.push({ step: 'routing', result: rule.action === 'drop' ? 'dropped' : 'passed', detail: `rule ${rule.index + 1}` });
    return rule.action === 'drop' ? { kind: 'dropped', reason: 'routing_rule' } : PASSED;
  }
  return PASSED;
}
