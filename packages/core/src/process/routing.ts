/** Step 7b: the organisation's routing rules. The first rule whose condition holds decides. */
import type { DataLayerConfig } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import type { Decision, DropReason } from '../outcome/outcome.ts';
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

export function applyRouting(
  event: CanonicalEvent,
  pipelineId: string,
  rules: readonly CompiledRoutingRule[],
  decisions: Decision[],
): DropReason | undefined {
  for (const rule of rules) {
    if (rule.pipeline_ids !== undefined && !rule.pipeline_ids.has(pipelineId)) continue;
    if (!rule.test(event)) continue;
    decisions.push({ step: 'routing', result: rule.action === 'drop' ? 'dropped' : 'passed', detail: `rule ${rule.index + 1}` });
    return rule.action === 'drop' ? 'routing_rule' : undefined;
  }
  return undefined;
}
