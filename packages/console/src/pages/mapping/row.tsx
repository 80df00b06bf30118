/** One mapping: source → transforms → target. Alt ↑ and Alt ↓ move it, so does dragging; faults of the compiler stand below it. */
import { Menu } from '@mantine/core';
import { memo, useState } from 'react';
import { DragIcon } from '../../components/icons.tsx';
import { Tag } from '../../components/tag.tsx';
import { type Completion, matching } from './completions.ts';
import { type MappingRow, typedLike } from './draft.ts';
import classes from './mapping.module.css';
import field from './suggest.module.css';
import { Suggest, type Suggestion } from './suggest.tsx';

export interface RowProps {
  row: MappingRow;
  at: number;
  section: string;
  faults: readonly { message: string }[];
  changed: boolean;
  completions: ReadonlyMap<string, Completion>;
  transforms: readonly string[];
  disabled: boolean;
  onChange: (at: number, row: MappingRow) => void;
  onRemove: (at: number) => void;
  onMove: (at: number, by: number) => void;
}

type Kind = 'source' | 'value' | 'template';
const kindOf = (row: MappingRow): Kind => (row.template !== undefined ? 'template' : Object.hasOwn(row, 'value') ? 'value' : 'source');
const MOST = 10;
/** The type of what is dragged, so that a row is only dropped on rows of its own section. */
const dragType = (section: string): string => `text/x-mapping-${encodeURIComponent(section).toLowerCase()}`;

export const Row = memo(function Row(props: RowProps) {
  const { row, at, section, faults, changed, completions, transforms, disabled, onChange, onMove } = props;
  const kind = kindOf(row);
  const name = `row ${at + 1} of ${section}`;
  function onKey(event: React.KeyboardEvent) {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    const by = event.key === 'ArrowUp' ? -1 : 1;
    const label = (event.target as HTMLElement).getAttribute('aria-label');
    onMove(at, by);
    // The focus goes with the row.
    const wanted = label?.replace(`row ${at + 1} `, `row ${at + by + 1} `);
    if (wanted !== undefined)
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[aria-label="${CSS.escape(wanted)}"]`)?.focus());
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move the row whichever of its fields has the focus
    <div
      className={classes.row}
      data-bad={faults.length > 0}
      data-changed={changed}
      onKeyDown={onKey}
      onDragOver={(event) => event.dataTransfer.types.includes(dragType(section)) && event.preventDefault()}
      onDrop={(event) => {
        const from = Number(event.dataTransfer.getData(dragType(section)));
        if (Number.isInteger(from) && from !== at) onMove(from, at - from);
      }}
    >
      <RowMenu {...props} kind={kind} name={name} />
      {kind === 'source' ? (
        <Source
          label={`Source, ${name}`}
          text={Array.isArray(row.source) ? row.source.join(', ') : (row.source ?? '')}
          completions={completions}
          disabled={disabled}
          onChange={(text) => onChange(at, { ...row, source: text.includes(',') ? text.split(',').map((part) => part.trim()) : text })}
        />
      ) : (
        <span className={classes.prefixed} data-prefix={kind === 'value' ? '=' : '{}'}>
          <input
            className={field.input}
            aria-label={`${kind === 'value' ? 'Value' : 'Template'}, ${name}`}
            disabled={disabled}
            value={kind === 'value' ? (typeof row.value === 'string' ? row.value : JSON.stringify(row.value)) : (row.template ?? '')}
            onChange={({ currentTarget: { value } }) =>
              onChange(at, { ...row, [kind]: kind === 'value' ? typedLike(row.value, value) : value })
            }
          />
        </span>
      )}
      <Transforms row={row} at={at} name={name} known={transforms} disabled={disabled} onChange={onChange} />
      <span className={classes.target}>
        <input
          className={field.input}
          aria-label={`Target, ${name}`}
          disabled={disabled}
          title={row.target}
          value={row.target}
          onChange={({ currentTarget }) => onChange(at, { ...row, target: currentTarget.value })}
        />
        {row.required === true && <Tag tone="info">required</Tag>}
      </span>
      {faults.length > 0 && (
        <div className={classes.fault} role="alert">
          {faults.map(({ message }) => message).join('; ')}
        </div>
      )}
    </div>
  );
});

/** The handle: drag it to order, open it for everything else. The menu is made when it is opened. */
function RowMenu({ row, at, section, disabled, kind, name, onChange, onRemove, onMove }: RowProps & { kind: Kind; name: string }) {
  const [open, setOpen] = useState(false);
  const handle = (
    <button
      type="button"
      className={classes.handle}
      aria-label={`Actions for ${name}`}
      aria-haspopup="menu"
      aria-expanded={open}
      disabled={disabled}
      draggable={!disabled}
      onDragStart={(event) => event.dataTransfer.setData(dragType(section), String(at))}
      onClick={() => setOpen(true)}
    >
      <DragIcon />
    </button>
  );
  if (!open) return handle;
  function setKind(next: Kind) {
    const { source: _s, value: _v, template: _t, ...rest } = row;
    onChange(at, { ...rest, [next]: '' });
  }
  return (
    <Menu position="bottom-start" opened onClose={() => setOpen(false)} trapFocus returnFocus>
      <Menu.Target>{handle}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onMove(at, -1)}>Move up (Alt ↑)</Menu.Item>
        <Menu.Item onClick={() => onMove(at, 1)}>Move down (Alt ↓)</Menu.Item>
        <Menu.Label>Takes its value from</Menu.Label>
        {(['source', 'value', 'template'] as const).map((one) => (
          <Menu.Item key={one} onClick={() => setKind(one)} rightSection={one === kind ? '✓' : undefined}>
            {{ source: 'a field of the event', value: 'a fixed value', template: 'a template' }[one]}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => onChange(at, { ...row, required: row.required !== true })} rightSection={row.required ? '✓' : undefined}>
          Drop the event without it
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item color="red" onClick={() => onRemove(at)}>
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Several paths stand with commas between them: the first that has a value is used. The last one is completed. */
function Source({
  label,
  text,
  completions,
  disabled,
  onChange,
}: {
  label: string;
  text: string;
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  onChange: (text: string) => void;
}) {
  function suggestions(typed: string): Suggestion[] {
    const comma = typed.lastIndexOf(',') + 1;
    const before = comma === 0 ? '' : `${typed.slice(0, comma)} `;
    return matching(completions, typed.slice(comma).trim(), MOST).map(({ path, note, seen }) => ({
      value: before + path,
      content: (
        <>
          <span className="mono">{path}</span>{' '}
          {seen !== undefined && <Tag tone="ok">{`seen in ${seen} ${seen === 1 ? 'event' : 'events'}`}</Tag>}
          <div className="dim">{note}</div>
        </>
      ),
    }));
  }
  return (
    <Suggest label={label} value={text} placeholder="properties.total" disabled={disabled} suggestions={suggestions} onChange={onChange} />
  );
}

/** The transforms in their order, as chips; typing adds one, Backspace takes the last away. */
function Transforms({
  row,
  at,
  name,
  known,
  disabled,
  onChange,
}: {
  row: MappingRow;
  at: number;
  name: string;
  known: readonly string[];
  disabled: boolean;
  onChange: (at: number, row: MappingRow) => void;
}) {
  const [typed, setTyped] = useState('');
  const list = row.transforms ?? [];
  function set(next: typeof list) {
    const { transforms: _gone, ...rest } = row;
    onChange(at, next.length === 0 ? rest : { ...rest, transforms: next });
  }
  function suggestions(text: string): Suggestion[] {
    const wanted = text.trim().toLowerCase();
    return known
      .filter((one) => one.includes(wanted))
      .sort((a, b) => Number(b.startsWith(wanted)) - Number(a.startsWith(wanted)))
      .slice(0, MOST)
      .map((one) => ({ value: one, content: <span className="mono">{one}</span> }));
  }
  return (
    <span className={classes.chips}>
      {list.map((one, index) => {
        const transform = typeof one === 'string' ? one : one.name;
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the same transform may stand twice
            key={index}
            className={classes.chip}
            title={typeof one === 'string' ? undefined : JSON.stringify(one.args)}
          >
            {transform}
            {typeof one !== 'string' && ' …'}
            {!disabled && (
              <button
                type="button"
                aria-label={`Remove ${transform}, ${name}`}
                onClick={() => set(list.filter((_, other) => other !== index))}
              >
                ×
              </button>
            )}
          </span>
        );
      })}
      <span className={classes.add}>
        <Suggest
          label={`Transforms, ${name}`}
          value={typed}
          placeholder="+ add"
          disabled={disabled}
          suggestions={suggestions}
          onChange={setTyped}
          onPick={(transform) => {
            setTyped('');
            set([...list, transform]);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Backspace' || typed !== '' || list.length === 0) return;
            event.preventDefault();
            set(list.slice(0, -1));
          }}
        />
      </span>
    </span>
  );
}
