/** Filters as chips: those that are set can be taken away, the others can be added. */
import { Button, Popover, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { RANGES } from '../../time-range.ts';
import classes from './filters.module.css';
import { canBeAdded, DELIVERIES, type EventsSearch, FILTERS, type FilterName, STATUSES } from './search.ts';

const LABELS: Record<FilterName, string> = {
  pipeline: 'Pipeline',
  event: 'Event',
  user: 'User',
  visitor: 'Visitor',
  integration: 'Integration',
  delivery: 'Result',
  reason: 'Reason',
  status: 'Processing',
  range: 'Time',
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
  pipelines,
  integrations,
  onChange,
  onClear,
}: {
  search: EventsSearch;
  pipelines: readonly Choice[];
  integrations: readonly Choice[];
  onChange: (name: FilterName, value: string | undefined) => void;
  onClear: () => void;
}) {
  const choices = (name: FilterName): readonly Choice[] | undefined => {
    if (name === 'pipeline') return pipelines;
    if (name === 'integration') return integrations;
    if (name === 'delivery') return choicesOf(DELIVERIES);
    if (name === 'status') return choicesOf(STATUSES);
    if (name === 'range') return Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));
    return undefined;
  };
  const set = FILTERS.filter((name) => search[name] !== undefined);
  const unset = FILTERS.filter(
    (name) => search[name] === undefined && canBeAdded(name, search) && !(name === 'pipeline' && pipelines.length < 2),
  );
  return (
    <fieldset className={classes.chips} aria-label="Filters">
      {set.map((name) => {
        const value = search[name] ?? '';
        return (
          <button key={name} type="button" className={classes.chip} data-set onClick={() => onChange(name, undefined)}>
            {LABELS[name]}: {choices(name)?.find((choice) => choice.value === value)?.label ?? value} <span aria-hidden>×</span>
            <span className="hidden">, remove this filter</span>
          </button>
        );
      })}
      {unset.map((name) => (
        <AddFilter key={name} name={name} choices={choices(name)} onAdd={(value) => onChange(name, value)} />
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

function AddFilter({ name, choices, onAdd }: { name: FilterName; choices: readonly Choice[] | undefined; onAdd: (value: string) => void }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  function add(value: string) {
    setOpen(false);
    setTyped('');
    if (value.trim() !== '') onAdd(value.trim());
  }
  return (
    <Popover opened={open} onChange={setOpen} trapFocus returnFocus position="bottom-start" shadow="sm">
      <Popover.Target>
        <button type="button" className={classes.chip} onClick={() => setOpen(!open)} aria-expanded={open}>
          + {LABELS[name]}
        </button>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        {choices === undefined ? (
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
          <Select
            size="xs"
            w={220}
            data-autofocus
            aria-label={LABELS[name]}
            placeholder="Choose …"
            searchable
            comboboxProps={{ withinPortal: false }}
            data={[...choices]}
            onChange={(value) => value !== null && add(value)}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
