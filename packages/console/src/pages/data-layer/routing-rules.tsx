/** Which events go on: the first rule whose condition holds decides. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { NEW_COMPARISON } from '../../components/condition.ts';
import { ConditionEditor } from '../../components/condition-editor.tsx';
import { PipelinesSelect } from '../../components/server-select.tsx';
import { pipelinesQuery } from '../../queries.ts';
import { useCompletions } from '../mapping/completions.ts';
import { sampleEvent } from '../mapping/recent-events.ts';
import { suggestPaths } from '../mapping/suggest-paths.tsx';
import classes from './data-layer.module.css';
import { type Faults, messageAt } from './faults.ts';

type Rule = DataLayerConfig['routing_rules'][number];
const NEW_RULE: Rule = { condition: { all: [NEW_COMPARISON] }, action: 'drop' };

export interface RoutingRulesProps {
  value: readonly Rule[];
  faults: Faults;
  disabled: boolean;
  onChange: (rules: Rule[]) => void;
}

export function RoutingRules({ value, faults, disabled, onChange }: RoutingRulesProps) {
  const pipelines = useQuery(pipelinesQuery()).data?.pipelines ?? [];
  const completions = useCompletions(pipelines[0]?.id, sampleEvent);
  const named = Object.entries(faults).map(([field, message]) => ({ field, message }));
  function move(at: number, to: number) {
    const rule = value[at];
    if (rule !== undefined) onChange(value.toSpliced(at, 1).toSpliced(to, 0, rule));
  }
  return (
    <div>
      {value.map((rule, at) => {
        const name = `rule ${at + 1}`;
        const where = `routing_rules[${at}]`;
        const set = (next: Partial<Rule>) => onChange(value.with(at, { ...rule, ...next }));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no id, and their order is theirs
          <section key={at} className={classes.rule} aria-label={`Routing ${name}`}>
            <Group gap="xs" align="flex-start">
              <Select
                size="xs"
                disabled={disabled}
                w={130}
                aria-label={`What ${name} does`}
                allowDeselect={false}
                data={[
                  { value: 'drop', label: 'Drop events' },
                  { value: 'pass', label: 'Let events pass' },
                ]}
                value={rule.action}
                error={messageAt(faults, `${where}.action`)}
                onChange={(action) => set({ action: action as Rule['action'] })}
              />
              <PipelinesSelect
                size="xs"
                disabled={disabled}
                style={{ flex: 1, minWidth: 160 }}
                aria-label={`Pipelines of ${name}`}
                placeholder={rule.pipeline_ids?.length ? '' : 'of every pipeline'}
                value={[...(rule.pipeline_ids ?? [])]}
                error={messageAt(faults, `${where}.pipeline_ids`)}
                onChange={(ids) => {
                  const { pipeline_ids: _before, ...rest } = rule;
                  onChange(value.with(at, ids.length === 0 ? rest : { ...rest, pipeline_ids: ids }));
                }}
              />
              <Group gap={2} wrap="nowrap">
                <Button
                  variant="subtle"
                  color="gray"
                  px={8}
                  disabled={disabled || at === 0}
                  aria-label={`Move ${name} up`}
                  onClick={() => move(at, at - 1)}
                >
                  ↑
                </Button>
                <Button
                  variant="subtle"
                  color="gray"
                  px={8}
                  disabled={disabled || at === value.length - 1}
                  aria-label={`Move ${name} down`}
                  onClick={() => move(at, at + 1)}
                >
                  ↓
                </Button>
                <Button
                  variant="subtle"
                  color="gray"
                  px={8}
                  disabled={disabled}
                  aria-label={`Remove routing ${name}`}
                  onClick={() => onChange(value.toSpliced(at, 1))}
                >
                  ✕
                </Button>
              </Group>
            </Group>
            <ConditionEditor
              label={`Condition of ${name}`}
              where={`${where}.condition`}
              value={rule.condition}
              faults={named}
              disabled={disabled}
              suggestions={(typed) => suggestPaths(completions, typed)}
              onChange={(condition) => set({ condition: condition ?? { all: [] } })}
            />
          </section>
        );
      })}
      <Button variant="default" disabled={disabled} onClick={() => onChange([...value, NEW_RULE])}>
        Add a rule
      </Button>
    </div>
  );
}
