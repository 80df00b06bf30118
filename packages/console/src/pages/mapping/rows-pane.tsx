/** The mapping: parameters, global rows, rows by event, and what happens to everything else. */
import { TRANSFORMS } from '@firsthand/core/transforms/index.ts';
import { Button, Group, Select, TextInput } from '@mantine/core';
import { modals } from '@mantine/modals';
import { type Dispatch, type SetStateAction, useCallback, useMemo, useState } from 'react';
import { type ConfigField, ConfigInput } from '../../components/config-input.tsx';
import type { Completion } from './completions.ts';
import {
  addEvent,
  addRow,
  type Config,
  faultPath,
  faultsAt,
  type MappingRow,
  moveRow,
  removeRow,
  removeSection,
  type Section,
  sectionsOf,
  setRow,
} from './draft.ts';
import classes from './mapping.module.css';
import type { Fault } from './rehearse.ts';
import { Row } from './row.tsx';

const TRANSFORM_NAMES = [...TRANSFORMS.keys()].sort();
/** More global rows than this are closed to begin with, so that the event's own are in view. */
const MANY = 12;
const NO_FAULTS: readonly Fault[] = [];

export function RowsPane({
  config,
  base,
  sections,
  faults,
  fields,
  completions,
  fallback,
  eventKey,
  disabled,
  setConfig,
}: {
  config: Config;
  base: Config;
  sections: readonly Section[];
  faults: readonly Fault[];
  fields: readonly ConfigField[];
  completions: ReadonlyMap<string, Completion>;
  fallback: string;
  /** The name under which the mapping knows the event shown: a track name, or `@page`. */
  eventKey: string;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
}) {
  const [filter, setFilter] = useState('');
  const hasEvent = sections.some(({ path }) => path[1] === eventKey);
  const rank = ({ path }: Section): number => (path[0] !== 'events' ? 0 : path[1] === eventKey ? 1 : 2);
  const inOrder = [...sections].sort((a, b) => rank(a) - rank(b));
  return (
    <section className={`panel ${classes.pane}`} aria-label="Mapping">
      <div className={classes.paneHead}>
        Mapping
        <TextInput
          size="xs"
          w={180}
          aria-label="Filter rows"
          placeholder="Filter by source or target"
          value={filter}
          onChange={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </div>
      <div className={classes.rows}>
        {filter === '' && <Parameters config={config} fields={fields} faults={faults} disabled={disabled} setConfig={setConfig} />}
        {inOrder.map((section) => (
          <SectionRows
            key={faultPath(section.path)}
            section={section}
            relevant={section.path[0] === 'events' ? section.path[1] === eventKey : section.rows.length <= MANY || !hasEvent}
            filter={filter}
            base={base}
            faults={faults}
            completions={completions}
            disabled={disabled}
            setConfig={setConfig}
          />
        ))}
        <NewEvent disabled={disabled} onAdd={(name) => setConfig((old) => addEvent(old, name))} />
        <Defaults
          config={config}
          disabled={disabled}
          onChange={(action) => setConfig((old) => ({ ...old, defaults: { ...((old.defaults ?? {}) as object), action } }))}
          fallback={fallback}
        />
      </div>
    </section>
  );
}

/** Credentials and settings of the vendor. A secret is shown as a mask, and the mask keeps it. */
function Parameters({
  config,
  fields,
  faults,
  disabled,
  setConfig,
}: {
  config: Config;
  fields: readonly ConfigField[];
  faults: readonly Fault[];
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
}) {
  const [open, setOpen] = useState(false);
  if (fields.length === 0) return null;
  const faulty = fields.some(({ key }) => faults.some(({ field }) => field === key));
  return (
    <div>
      <div className={classes.sectionHead}>
        <span>
          <b>Parameters</b>{' '}
          <span className="dim">
            {fields
              .filter(({ required }) => required)
              .map(({ key }) => key)
              .join(', ')}
          </span>
        </span>
        <Button size="compact-xs" variant="default" onClick={() => setOpen(!open)} aria-expanded={open || faulty}>
          {open ? 'Close' : 'Edit'}
        </Button>
      </div>
      {(open || faulty) && (
        <div className={classes.parameters}>
          {fields.map((field) => (
            <ConfigInput
              key={field.key}
              field={field}
              disabled={disabled}
              value={config[field.key]}
              error={faults.find((fault) => fault.field === field.key)?.message}
              onChange={(value) =>
                setConfig((old) => {
                  const { [field.key]: _gone, ...rest } = old;
                  return value === '' ? rest : { ...old, [field.key]: value };
                })
              }
            />
          ))}
        </div>
      )}
    </div>
  );
}

function SectionRows({
  section,
  relevant,
  filter,
  base,
  faults,
  completions,
  disabled,
  setConfig,
}: {
  section: Section;
  /** The event shown uses it. */
  relevant: boolean;
  filter: string;
  base: Config;
  faults: readonly Fault[];
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
}) {
  const { path, title, note, rows } = section;
  const [toggled, setToggled] = useState<boolean>();
  const key = faultPath(path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for `path`, which is a new list each time
  const onChange = useCallback((at: number, row: MappingRow) => setConfig((old) => setRow(old, path, at, row)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onRemove = useCallback((at: number) => setConfig((old) => removeRow(old, path, at)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onMove = useCallback((at: number, by: number) => setConfig((old) => moveRow(old, path, at, by)), [key]);
  const before = useMemo(
    () =>
      new Set(
        sectionsOf(base)
          .find((one) => faultPath(one.path) === key)
          ?.rows.map((row) => JSON.stringify(row)),
      ),
    [base, key],
  );
  const wanted = filter.toLowerCase();
  const matches = (row: MappingRow) => wanted === '' || `${String(row.source ?? '')} ${row.target}`.toLowerCase().includes(wanted);
  if (wanted !== '' && !rows.some(matches)) return null;
  // Hundreds of rows are common: what the event shown does not use stays closed, unless it is faulty or searched for.
  const isOpen = toggled ?? (relevant || wanted !== '' || (faults.length > 0 && faultsAt(faults, path).length > 0));
  return (
    <div>
      <div className={classes.sectionHead}>
        <button type="button" className={classes.open} aria-expanded={isOpen} onClick={() => setToggled(!isOpen)}>
          <b>{title}</b>{' '}
          <span className="dim">{`${rows.length} ${rows.length === 1 ? 'row' : 'rows'}${note === '' ? '' : ` · ${note}`}`}</span>
        </button>
        <Group gap={4} wrap="nowrap">
          {isOpen && path[0] === 'events' && (
            <Button
              size="compact-xs"
              variant="subtle"
              color="red"
              disabled={disabled}
              aria-label={`Remove ${title}`}
              onClick={() =>
                modals.openConfirmModal({
                  title: `Remove ${title}?`,
                  children: 'Its events then follow the setting “everything else”.',
                  labels: { confirm: 'Remove', cancel: 'Keep' },
                  onConfirm: () => setConfig((old) => removeSection(old, path)),
                })
              }
            >
              Remove
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            disabled={disabled}
            aria-label={`Add a row to ${title}`}
            onClick={() => {
              setToggled(true);
              setConfig((old) => addRow(old, path));
            }}
          >
            Add a row
          </Button>
        </Group>
      </div>
      {rows.map((row, at) => {
        if (!isOpen || !matches(row)) return null;
        const own = faults.length === 0 ? NO_FAULTS : faultsAt(faults, [...path, at]);
        return (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id; a moved row keeps its fields' values from the config
            key={at}
            row={row}
            at={at}
            section={title}
            // A new list each time would draw every row again at every key.
            faults={own.length === 0 ? NO_FAULTS : own}
            changed={!before.has(JSON.stringify(row))}
            completions={completions}
            transforms={TRANSFORM_NAMES}
            disabled={disabled}
            onChange={onChange}
            onRemove={onRemove}
            onMove={onMove}
          />
        );
      })}
    </div>
  );
}

function NewEvent({ disabled, onAdd }: { disabled: boolean; onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <form
      className={classes.sectionHead}
      style={{ position: 'static' }}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onAdd(name.trim());
        setName('');
      }}
    >
      <TextInput
        size="xs"
        aria-label="Name of an event to map"
        placeholder="Map another event: its name, or @page"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        disabled={disabled}
        style={{ flex: 1 }}
      />
      <Button type="submit" variant="default" disabled={disabled || name.trim() === ''}>
        Map it
      </Button>
    </form>
  );
}

function Defaults({
  config,
  disabled,
  fallback,
  onChange,
}: {
  config: Config;
  disabled: boolean;
  fallback: string;
  onChange: (action: string) => void;
}) {
  const action = ((config.defaults ?? {}) as { action?: string }).action ?? fallback;
  return (
    <div className={classes.sectionHead} style={{ position: 'static' }}>
      <b>Everything else</b>
      <Select
        size="xs"
        w={220}
        aria-label="What happens to other events"
        allowDeselect={false}
        disabled={disabled}
        value={action}
        data={[
          { value: 'drop', label: 'is dropped' },
          { value: 'pass_through', label: 'is passed through as it is' },
          { value: 'map', label: 'is mapped with defaults' },
        ]}
        onChange={(next) => next !== null && onChange(next)}
      />
    </div>
  );
}
