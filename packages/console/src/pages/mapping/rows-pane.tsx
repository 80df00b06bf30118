/** The mapping: parameters, global rows, rows by event, and what happens to everything else. */
import { Button, Select } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react';
import { AddressInput } from '../../components/address-input.tsx';
import type { ConfigField } from '../../components/config-field.ts';
import { ConfigInput } from '../../components/config-input.tsx';
import { Suggest } from '../../components/suggest.tsx';
import { type Completion, useEventNames } from './completions.ts';
import { addEvent, type Config, isWithin, rowsOf, type Section, valueAt, withKey, withValue } from './draft.ts';
import { Entry } from './entry.tsx';
import classes from './mapping.module.css';
import type { Fault } from './rehearse.ts';

/** More global rows than this are closed to begin with, so that the event's own are in view. */
const MANY = 12;
const MOST_NAMES = 10;

export interface RowsPaneProps {
  config: Config;
  /** The config in use. */
  base: Config;
  sections: readonly Section[];
  faults: readonly Fault[];
  fields: readonly ConfigField[];
  completions: ReadonlyMap<string, Completion>;
  /** What happens to other events where the config says nothing. */
  fallback: string;
  /** The name under which the mapping knows the event shown: a track name, or `@page`. */
  eventKey: string;
  pipelineId: string | undefined;
  /** Of a vendor with an OAuth connect flow: the way to an account. */
  connect: ReactNode;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
  check: (section: Section, entry: Config) => Fault[];
}

export function RowsPane(props: RowsPaneProps) {
  const { config, sections, faults, fields, fallback, eventKey, pipelineId, connect, disabled, setConfig, ...rest } = props;
  const { rows: filter = '' } = useSearch({ strict: false }) as { rows?: string };
  const navigate = useNavigate();
  const setFilter = (next: string) =>
    void navigate({ to: '.', search: (old: object) => ({ ...old, rows: next === '' ? undefined : next }), replace: true } as never);
  const shared = { ...rest, faults, filter, disabled, setConfig };
  const hasEvent = sections.some(({ path }) => path[1] === eventKey);
  const rank = ({ kind, path }: Section): number => (kind === 'global' ? 0 : path[1] === eventKey ? 1 : 2);
  const inOrder = sections.filter(({ kind }) => kind !== 'defaults').sort((a, b) => rank(a) - rank(b));
  const defaults = sections.find(({ kind }) => kind === 'defaults');
  const action = (defaults?.entry.action as string | undefined) ?? fallback;
  return (
    <section className={`panel ${classes.pane}`} aria-label="Mapping">
      <div className={classes.paneHead}>
        Mapping
        <AddressInput size="xs" w={180} aria-label="Filter rows" placeholder="Filter rows …" value={filter} onChange={setFilter} />
      </div>
      <div className={classes.rows}>
        {filter === '' && (
          <Parameters config={config} fields={fields} faults={faults} connect={connect} disabled={disabled} setConfig={setConfig} />
        )}
        {inOrder.map((section) => (
          <Entry
            key={section.key}
            section={section}
            relevant={section.kind === 'event' ? section.path[1] === eventKey : rowsOf(section.entry).length <= MANY || !hasEvent}
            {...shared}
          />
        ))}
        <NewEvent
          mapped={(config.events ?? {}) as object}
          pipelineId={pipelineId}
          disabled={disabled}
          onAdd={(name) => setConfig((old) => addEvent(old, name))}
        />
        {defaults !== undefined && (
          <Entry
            section={defaults}
            relevant={action === 'map'}
            parts={action === 'map' ? 'all' : action === 'pass_through' ? 'filter' : 'none'}
            control={
              <Select
                size="xs"
                w={180}
                aria-label="What happens to other events"
                allowDeselect={false}
                disabled={disabled}
                value={action}
                data={[
                  { value: 'drop', label: 'is dropped' },
                  { value: 'pass_through', label: 'is passed through as it is' },
                  { value: 'map', label: 'is mapped with these rows' },
                ]}
                onChange={(next) => setConfig((old) => ({ ...old, defaults: withKey((old.defaults ?? {}) as Config, 'action', next) }))}
              />
            }
            {...shared}
          />
        )}
      </div>
    </section>
  );
}

interface ParametersProps {
  config: Config;
  fields: readonly ConfigField[];
  faults: readonly Fault[];
  connect: ReactNode;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
}
/** Credentials and settings of the vendor. A secret is shown as a mask, and the mask keeps it. */
function Parameters({ config, fields, faults, connect, disabled, setConfig }: ParametersProps) {
  const [open, setOpen] = useState(false);
  if (fields.length === 0) return null;
  // `parameters` is another place for the same fields, and wins.
  const inner = (config.parameters ?? {}) as Config;
  const pathOf = (key: string): string[] => (Object.hasOwn(inner, key) ? ['parameters', key] : [key]);
  const faulty = fields.some(({ key }) => faults.some(({ field }) => isWithin(field, pathOf(key).join('.'))));
  const messageAt = (path: string) => faults.find(({ field }) => field === path)?.message;
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
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setOpen(!open)}
          aria-expanded={open || faulty}
          aria-label={open ? 'Close the parameters' : 'Edit the parameters'}
        >
          {open ? 'Close' : 'Edit'}
        </Button>
      </div>
      {(open || faulty) && (
        <div className={classes.parameters}>
          {fields.map((field) => {
            const path = pathOf(field.key);
            return (
              <ConfigInput
                key={field.key}
                field={field}
                disabled={disabled}
                value={valueAt(config, path)}
                error={messageAt(path.join('.'))}
                cellError={(cell) => messageAt(`${path.join('.')}${cell}`)}
                onChange={(value) =>
                  setConfig((old) => {
                    const place = path.slice(0, -1);
                    return withValue(
                      old,
                      place,
                      withKey((valueAt(old, place) ?? {}) as Config, field.key, value === '' ? undefined : value),
                    );
                  })
                }
              />
            );
          })}
          {connect}
        </div>
      )}
    </div>
  );
}

interface NewEventProps {
  mapped: object;
  pipelineId: string | undefined;
  disabled: boolean;
  onAdd: (name: string) => void;
}
/** Completed with the names of events that were really seen and have no entry yet. */
function NewEvent({ mapped, pipelineId, disabled, onAdd }: NewEventProps) {
  const [name, setName] = useState('');
  const names = useEventNames(pipelineId);
  function add(text: string) {
    if (text.trim() !== '') onAdd(text.trim());
    setName('');
  }
  return (
    <form
      className={classes.sectionHead}
      style={{ position: 'static' }}
      onSubmit={(event) => {
        event.preventDefault();
        add(name);
      }}
    >
      <div style={{ flex: 1 }}>
        <Suggest
          label="Name of an event to map"
          placeholder="Map another event: its name, or @page"
          value={name}
          disabled={disabled}
          suggestions={(typed) =>
            names
              .filter((one) => !Object.hasOwn(mapped, one) && one.toLowerCase().includes(typed.trim().toLowerCase()))
              .slice(0, MOST_NAMES)
              .map((value) => ({ value, content: value }))
          }
          onChange={setName}
          onPick={add}
        />
      </div>
      <Button type="submit" variant="default" disabled={disabled || name.trim() === ''}>
        Map it
      </Button>
    </form>
  );
}
