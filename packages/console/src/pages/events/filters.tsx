/** Filters as chips: those that are set can be taken away, the others can be added. */
import { Button, Popover, Select, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { IntegrationSelect, PipelineSelect, SourceSelect, useSourceName } from '../../components/server-select.tsx';
import { useIntegrationNames, usePipelineNames } from '../../names.ts';
import { fixedLabel, RANGES, type RangeKey } from '../../time-range.ts';
import classes from './filters.module.css';
import { canBeAdded, DELIVERIES, type EventsSearch, FILTERS, type FilterName, PLAN, SOURCES, STATUSES, TIMES } from './search.ts';

const LABELS: Record<FilterName, string> = {
  pipeline: 'Pipeline',
  source: 'Source',
  event: 'Event',
  user: 'User',
  visitor: 'Visitor',
  integration: 'Integration',
  delivery: 'Result',
  reason: 'Reason',
  status: 'Processing',
  plan: 'Tracking plan',
  range: 'Time',
  time: 'Time is',
};
const HINTS: Partial<Record<FilterName, string>> = {
  event: 'Order Completed, or @page',
  user: 'The user id',
  visitor: 'The anonymous id',
  reason: 'consent_not_granted',
};
interface Choice {
  value: string;
  label: string;
}

export function Filters({
  search,
  hasManyPipelines,
  onChange,
  onClear,
}: {
  search: EventsSearch;
  hasManyPipelines: boolean;
  onChange: (name: FilterName, value: string | undefined) => void;
  onClear: () => void;
}) {
  const pipelines = usePipelineNames(search.pipeline === undefined ? [] : [search.pipeline]);
  const integrations = useIntegrationNames(search.integration === undefined ? [] : [search.integration]);
  const sourceName = useSourceName(search.source !== undefined && Object.hasOwn(SOURCES, search.source) ? undefined : search.source);
  const labelOf = (name: FilterName, value: string): string => {
    if (name === 'pipeline') return pipelines.get(value) ?? value;
    if (name === 'integration') return integrations.get(value) ?? value;
    if (name === 'source' && sourceName !== undefined) return sourceName;
    if (name === 'range') return fixedLabel(value) ?? RANGES[value as RangeKey]?.label ?? value;
    return choices(name)?.find((choice) => choice.value === value)?.label ?? value;
  };
  const choices = (name: FilterName): readonly Choice[] | undefined => {
    if (name === 'delivery') return choicesOf(DELIVERIES);
    if (name === 'status') return choicesOf(STATUSES);
    if (name === 'source') return choicesOf(SOURCES);
    if (name === 'plan') return choicesOf(PLAN);
    if (name === 'time') return choicesOf(TIMES);
    return undefined;
  };
  const set = FILTERS.filter((name) => search[name] !== undefined);
  const unset = FILTERS.filter(
    // The top bar has the time range.
    (name) => search[name] === undefined && name !== 'range' && canBeAdded(name, search) && !(name === 'pipeline' && !hasManyPipelines),
  );
  const chips = useRef<HTMLFieldSetElement>(null);
  function remove(name: FilterName) {
    // The chip is gone then: its keys go on from here.
    chips.current?.focus();
    onChange(name, undefined);
  }
  return (
    <fieldset ref={chips} className={classes.chips} aria-label="Filters" tabIndex={-1}>
      {set.map((name) => {
        const value = search[name] ?? '';
        return (
          <button key={name} type="button" className={classes.chip} data-set onClick={() => remove(name)}>
            {LABELS[name]}: {labelOf(name, value)} <span aria-hidden>×</span>
            <span className="hidden">, remove this filter</span>
          </button>
        );
      })}
      {unset.map((name) => (
        <AddFilter key={name} name={name} choices={choices(name)} pipelineId={search.pipeline} onAdd={(value) => onChange(name, value)} />
      ))}
      {set.length > 1 && (
        <Button variant="subtle" size="compact-xs" onClick={onClear}>
          Clear
        </Button>
      )}
    </fieldset>
  );
}
const choicesOf = (table: Record<string, string>): Choice[] => Object.entries(table).map(([value, label]) => ({ value, label }));

function AddFilter({
  name,
  choices,
  pipelineId,
  onAdd,
}: {
  name: FilterName;
  choices: readonly Choice[] | undefined;
  /** Only its integrations and sources are offered. */
  pipelineId: string | undefined;
  onAdd: (value: string) => void;
}) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  function add(value: string) {
    setOpen(false);
    setTyped('');
    if (value.trim() !== '') onAdd(value.trim());
  }
  const select = {
    size: 'xs',
    w: 220,
    'data-autofocus': true,
    'aria-label': LABELS[name],
    placeholder: 'Choose …',
    comboboxProps: { withinPortal: false },
    onChange: (value: string | null) => value !== null && add(value),
  };
  return (
    <Popover opened={open} onChange={setOpen} trapFocus returnFocus position="bottom-start" shadow="sm">
      <Popover.Target>
        <button type="button" className={classes.chip} onClick={() => setOpen(!open)} aria-expanded={open}>
          + {LABELS[name]}
        </button>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        {name === 'pipeline' ? (
          <PipelineSelect {...select} />
        ) : name === 'integration' ? (
          <IntegrationSelect pipelineId={pipelineId} {...select} />
        ) : name === 'source' ? (
          <SourceSelect pipelineId={pipelineId} kinds={choices ?? []} {...select} />
        ) : choices === undefined ? (
          <form
            className={classes.form}
            onSubmit={(event) => {
              event.preventDefault();
              add(typed);
            }}
          >
            <TextInput
              size="xs"
              w={220}
              data-autofocus
              aria-label={LABELS[name]}
              placeholder={HINTS[name] ?? ''}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            />
            <Button type="submit">Add</Button>
          </form>
        ) : (
          <Select searchable data={[...choices]} {...select} />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
