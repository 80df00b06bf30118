/** One entry of a mapping: what it says of itself, its rows before, for and after the payload, and all of it as JSON. */
import { Button, Group, Menu, Switch } from '@mantine/core';
import { type Dispatch, type ReactNode, type SetStateAction, useCallback, useMemo, useState } from 'react';
import { NEW_COMPARISON } from '../../components/condition.ts';
import { ConditionEditor, ConditionSummary } from '../../components/condition-editor.tsx';
import field from '../../components/field.module.css';
import { openConfirmModal } from '../../open-confirm-modal.ts';
import type { Completion } from './completions.ts';
import {
  addAlternative,
  addRow,
  type Config,
  faultPath,
  faultsAt,
  LISTS,
  type List,
  type MappingRow,
  moveAlternative,
  moveRow,
  removeEntry,
  removeRow,
  rowsOf,
  type Section,
  setRow,
  valueAt,
  withKey,
  withValue,
} from './draft.ts';
import { EntryJson } from './entry-json.tsx';
import classes from './mapping.module.css';
import type { Fault } from './rehearse.ts';
import { Row } from './row.tsx';
import { suggestPaths } from './suggest-paths.tsx';

const NO_FAULTS: readonly Fault[] = [];
/** How rows are named, and what stands above them. */
const NOUNS: Record<List, string> = { enrichments: 'enrichment', mappings: 'row', transforms: 'payload change' };
const HEADINGS: Partial<Record<List, string>> = {
  enrichments: 'Before: changes of the event',
  transforms: 'After: changes of the payload',
};

export interface EntryProps {
  section: Section;
  /** Opened to begin with: the event shown uses it. */
  relevant: boolean;
  filter: string;
  /** The config in use, to mark what differs. */
  base: Config;
  faults: readonly Fault[];
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
  /** Faults of the entry if it were this. */
  check: (section: Section, entry: Config) => Fault[];
  /** Stands in the head of the section. */
  control?: ReactNode;
  /** What of the entry has an effect: a dropped default has no rows. */
  parts?: 'all' | 'filter' | 'none';
}

export function Entry(props: EntryProps) {
  const { section, relevant, filter, base, faults, completions, disabled, setConfig, check, control, parts = 'all' } = props;
  const { path, key, title, note, entry, kind } = section;
  const [toggled, setToggled] = useState<boolean>();
  const [asJson, setAsJson] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the path as a text
  const before = useMemo(() => {
    const used = (valueAt(base, path) ?? {}) as Config;
    return new Set(LISTS.flatMap((list) => rowsOf(used, list)).map((row) => JSON.stringify(row)));
  }, [base, key]);
  const wanted = filter.toLowerCase();
  const matches = (row: MappingRow) => wanted === '' || `${String(row.source ?? '')} ${row.target}`.toLowerCase().includes(wanted);
  if (wanted !== '' && !rowsOf(entry).some(matches)) return null;
  // Hundreds of rows are common: entries that the shown event does not use stay closed, unless they have faults or match the search.
  const isOpen = parts !== 'none' && (toggled ?? (relevant || wanted !== '' || (faults.length > 0 && faultsAt(faults, path).length > 0)));
  const count = rowsOf(entry).length;
  const add = (list: List) => {
    setToggled(true);
    setConfig((old) => addRow(old, [...path, list]));
  };
  return (
    <section aria-label={title}>
      <div className={classes.sectionHead}>
        {parts === 'none' ? (
          <b>{title}</b>
        ) : (
          <button type="button" className={classes.open} aria-expanded={isOpen} onClick={() => setToggled(!isOpen)}>
            <span aria-hidden className={classes.triangle}>
              {isOpen ? '▾' : '▸'}
            </span>
            <b>{title}</b>{' '}
            <span className="dim">
              {parts === 'all' && `${count} ${count === 1 ? 'row' : 'rows'}`}
              {note !== '' && ` · ${note}`}
            </span>
          </button>
        )}
        <Group gap={4} wrap="nowrap">
          {control}
          {parts === 'all' && (
            <Button
              size="compact-xs"
              variant="default"
              disabled={disabled}
              aria-label={`Add a row to ${title}`}
              onClick={() => add('mappings')}
            >
              Add a row
            </Button>
          )}
          {parts !== 'none' && (
            <EntryMenu
              section={section}
              disabled={disabled}
              parts={parts}
              onAdd={add}
              onJson={() => setAsJson(true)}
              setConfig={(change) => {
                setToggled(true);
                setConfig(change);
              }}
            />
          )}
        </Group>
      </div>
      {isOpen && wanted === '' && <EntryHead {...props} named={kind !== 'global' && parts === 'all'} switched={kind === 'event'} />}
      {isOpen &&
        parts === 'all' &&
        LISTS.map((list) => (
          <RowList
            key={list}
            list={list}
            section={section}
            rows={rowsOf(entry, list)}
            matches={matches}
            before={before}
            faults={faults}
            completions={completions}
            disabled={disabled}
            setConfig={setConfig}
          />
        ))}
      {asJson && (
        <EntryJson
          key={key}
          section={section}
          disabled={disabled}
          check={(next) => check(section, next)}
          onApply={(next) => setConfig((old) => withValue(old, path, next))}
          onClose={() => setAsJson(false)}
        />
      )}
    </section>
  );
}

/** The name that the vendor gives the event, whether the entry is on, and which events it takes. */
function EntryHead({
  section,
  faults,
  completions,
  disabled,
  setConfig,
  named,
  switched,
}: EntryProps & { named: boolean; switched: boolean }) {
  const { path, title, entry } = section;
  const [open, setOpen] = useState(false);
  const set = (key: string, value: unknown) =>
    setConfig((old) => withValue(old, path, withKey((valueAt(old, path) ?? {}) as Config, key, value)));
  const messages = (key: string) => faultsAt(faults, [...path, key]);
  const name = entry.vendor_event_name;
  // A new filter has faults at first, and stays open when they are mended.
  if (messages('filter').length > 0 && !open) setOpen(true);
  const hasFilter = entry.filter !== undefined && entry.filter !== null;
  if (!named && !switched && !hasFilter) return null;
  return (
    <div className={classes.entryHead}>
      {named && (
        <label className={classes.labelled}>
          <span className="dim">Name at the vendor</span>
          <input
            className={field.input}
            aria-label={`Name at the vendor, ${section.path[1] ?? title}`}
            aria-invalid={messages('vendor_event_name').length > 0}
            placeholder="as the event"
            disabled={disabled}
            value={typeof name === 'string' ? name : ''}
            onChange={({ currentTarget: { value } }) => set('vendor_event_name', value === '' ? undefined : value)}
          />
        </label>
      )}
      {switched && (
        <Switch
          size="xs"
          label="On"
          aria-label={`${title} is on`}
          disabled={disabled}
          checked={entry.enabled !== false}
          onChange={({ currentTarget: { checked } }) => set('enabled', checked ? undefined : false)}
        />
      )}
      {hasFilter && <ConditionSummary label={`Filter of ${title}`} value={entry.filter} open={open} onToggle={() => setOpen(!open)} />}
      {hasFilter && open && (
        <div className={classes.filter}>
          <ConditionEditor
            label={`Filter of ${title}`}
            where={faultPath([...path, 'filter'])}
            value={entry.filter}
            faults={faults}
            disabled={disabled}
            suggestions={(typed) => suggestPaths(completions, typed)}
            onChange={(filter) => set('filter', filter)}
          />
        </div>
      )}
      {[...messages('vendor_event_name'), ...messages('enabled')].map(({ field: at, message }) => (
        <div key={at} className={classes.fault} role="alert">
          {message}
        </div>
      ))}
    </div>
  );
}

interface EntryMenuProps {
  section: Section;
  disabled: boolean;
  parts: 'all' | 'filter';
  onAdd: (list: List) => void;
  onJson: () => void;
  setConfig: (change: (config: Config) => Config) => void;
}
function EntryMenu({ section: { path, title, kind, entry }, disabled, parts, onAdd, onJson, setConfig }: EntryMenuProps) {
  const addFilter = () => setConfig((old) => withValue(old, [...path, 'filter'], { all: [NEW_COMPARISON] }));
  return (
    <Menu position="bottom-end" trapFocus returnFocus>
      <Menu.Target>
        <Button size="compact-xs" variant="default" aria-label={`More for ${title}`}>
          ⋯
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {!disabled && (
          <>
            {(entry.filter === undefined || entry.filter === null) && (
              <Menu.Item onClick={addFilter}>Only some events: add a filter</Menu.Item>
            )}
            {parts === 'all' && (
              <>
                <Menu.Item onClick={() => onAdd('enrichments')}>Change the event before: add an enrichment</Menu.Item>
                <Menu.Item onClick={() => onAdd('transforms')}>Change the payload after: add a transform</Menu.Item>
              </>
            )}
            {kind === 'event' && (
              <>
                <Menu.Divider />
                <Menu.Item onClick={() => setConfig((old) => addAlternative(old, path))}>Add another entry for {path[1]}</Menu.Item>
                {path.length > 2 && (
                  <>
                    <Menu.Item onClick={() => setConfig((old) => moveAlternative(old, path, -1))}>Try it earlier</Menu.Item>
                    <Menu.Item onClick={() => setConfig((old) => moveAlternative(old, path, 1))}>Try it later</Menu.Item>
                  </>
                )}
              </>
            )}
            <Menu.Divider />
          </>
        )}
        <Menu.Item onClick={onJson}>{disabled ? 'Show as JSON' : 'Edit as JSON'}</Menu.Item>
        {!disabled && kind === 'event' && (
          <Menu.Item
            color="red"
            onClick={() =>
              openConfirmModal({
                title: `Remove ${title}?`,
                children:
                  path.length > 2 ? 'The other entries of the event stay.' : 'Its events then follow the setting “everything else”.',
                labels: { confirm: 'Remove', cancel: 'Keep' },
                confirmProps: { color: 'red' },
                onConfirm: () => setConfig((old) => removeEntry(old, path)),
              })
            }
          >
            Remove
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

interface RowListProps {
  list: List;
  section: Section;
  rows: readonly MappingRow[];
  matches: (row: MappingRow) => boolean;
  before: ReadonlySet<string>;
  faults: readonly Fault[];
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  setConfig: Dispatch<SetStateAction<Config>>;
}
function RowList({ list, section, rows, matches, before, faults, completions, disabled, setConfig }: RowListProps) {
  const path = [...section.path, list];
  const key = faultPath(path);
  // Stable functions, so that a row that does not change is not drawn again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` is the path as a text
  const onChange = useCallback((at: number, row: MappingRow) => setConfig((old) => setRow(old, path, at, row)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onRemove = useCallback((at: number) => setConfig((old) => removeRow(old, path, at)), [key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const onMove = useCallback((at: number, by: number) => setConfig((old) => moveRow(old, path, at, by)), [key]);
  const heading = HEADINGS[list];
  return (
    <>
      {heading !== undefined && rows.length > 0 && <div className={classes.heading}>{heading}</div>}
      {heading === undefined && rows.length > 0 && rowsOf(section.entry, 'enrichments').length > 0 && (
        <div className={classes.heading}>Rows</div>
      )}
      {rows.map((row, at) => {
        if (!matches(row)) return null;
        const own = faults.length === 0 ? NO_FAULTS : faultsAt(faults, [...path, at]);
        return (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id; a moved row keeps its fields' values from the config
            key={at}
            row={row}
            at={at}
            noun={NOUNS[list]}
            section={section.title}
            listKey={key}
            where={`${key}[${at}]`}
            // A new list each time would draw every row again at every key.
            faults={own.length === 0 ? NO_FAULTS : own}
            changed={!before.has(JSON.stringify(row))}
            completions={completions}
            disabled={disabled}
            onChange={onChange}
            onRemove={onRemove}
            onMove={onMove}
          />
        );
      })}
    </>
  );
}
