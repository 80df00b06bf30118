/** One mapping: source → transforms → target. Alt ↑ and Alt ↓ move it, so does dragging; faults of the compiler stand below it. */
import { Menu } from '@mantine/core';
import { memo, useRef, useState } from 'react';
import { breakable } from '../../components/breakable.ts';
import { conditionText } from '../../components/condition.ts';
import field from '../../components/field.module.css';
import { DragIcon } from '../../components/icons.tsx';
import { LooseInput } from '../../components/loose-input.tsx';
import { writeLoose } from '../../components/loose-value.ts';
import { Suggest } from '../../components/suggest.tsx';
import { isWithin, type MappingRow } from './draft.ts';
import classes from './mapping.module.css';
import { type EditedRow, RowDetails } from './row-details.tsx';
import { suggestPaths } from './suggest-paths.tsx';
import { Transforms } from './transforms.tsx';

interface RowProps extends EditedRow {
  /** `row`, `enrichment` or `payload change`: begins the name of the row. */
  noun: string;
  /** Ends the name of the row: the title of its entry. */
  section: string;
  /** Of the list: rows are dropped on rows of their own list only. */
  listKey: string;
  changed: boolean;
  onRemove: (at: number) => void;
  onMove: (at: number, by: number) => void;
}

type Kind = 'source' | 'value' | 'template';
const KINDS: Record<Kind, string> = { source: 'a field of the event', value: 'a fixed value', template: 'a template' };
/** Undefined for a change of the payload, which has nothing but its target. */
function kindOf(row: MappingRow, listKey: string): Kind | undefined {
  if (listKey.endsWith('.transforms')) return undefined;
  return row.template !== undefined ? 'template' : Object.hasOwn(row, 'value') ? 'value' : 'source';
}
const dragType = (listKey: string): string => `text/x-mapping-${encodeURIComponent(listKey).toLowerCase()}`;

export const Row = memo(function Row(props: RowProps) {
  const { row, at, noun, section, listKey, where, faults, changed, completions, disabled, onChange, onMove } = props;
  const kind = kindOf(row, listKey);
  const name = `${noun} ${at + 1} of ${section}`;
  const [open, setOpen] = useState(false);
  // The open details show the faults of the condition at its lines.
  const elsewhere = open ? faults.filter((fault) => !isWithin(fault.field, `${where}.when`)) : faults;
  function onKey(event: React.KeyboardEvent) {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    const by = event.key === 'ArrowUp' ? -1 : 1;
    const label = (event.target as HTMLElement).getAttribute('aria-label');
    onMove(at, by);
    // The focus goes with the row.
    const wanted = label?.replace(`${noun} ${at + 1} `, `${noun} ${at + by + 1} `);
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
      onDragOver={(event) => event.dataTransfer.types.includes(dragType(listKey)) && event.preventDefault()}
      onDrop={(event) => {
        const from = Number(event.dataTransfer.getData(dragType(listKey)));
        if (Number.isInteger(from) && from !== at) onMove(from, at - from);
      }}
    >
      <RowMenu {...props} kind={kind} name={name} open={open} onDetails={() => setOpen(!open)} />
      {kind === undefined ? (
        <span className={classes.payload}>the payload’s</span>
      ) : kind === 'source' ? (
        <Suggest
          label={`Source, ${name}`}
          placeholder="properties.total"
          value={Array.isArray(row.source) ? row.source.join(', ') : (row.source ?? '')}
          disabled={disabled}
          suggestions={(typed) => suggestPaths(completions, typed)}
          onChange={(text) => onChange(at, { ...row, source: text.includes(',') ? text.split(',').map((part) => part.trim()) : text })}
        />
      ) : kind === 'value' ? (
        <span className={classes.prefixed} data-prefix="=" title={typeName(row.value)}>
          <LooseInput
            label={`Value, ${name}`}
            disabled={disabled}
            value={row.value}
            onChange={(value) => onChange(at, { ...row, value })}
          />
        </span>
      ) : (
        <span className={classes.prefixed} data-prefix="{}">
          <span className={field.whole} data-text={breakable(row.template ?? '')}>
            <input
              className={field.input}
              aria-label={`Template, ${name}`}
              disabled={disabled}
              value={row.template ?? ''}
              onChange={({ currentTarget }) => onChange(at, { ...row, template: currentTarget.value })}
            />
          </span>
        </span>
      )}
      <Transforms row={row} at={at} name={name} disabled={disabled} onChange={onChange} onArguments={() => setOpen(true)} />
      <span className={field.whole} data-text={breakable(row.target)}>
        <input
          className={field.input}
          aria-label={`Target, ${name}`}
          disabled={disabled}
          value={row.target}
          onChange={({ currentTarget }) => onChange(at, { ...row, target: currentTarget.value })}
        />
      </span>
      {!open && <Extras row={row} name={name} onOpen={() => setOpen(true)} />}
      {open && <RowDetails {...props} name={name} hasOrigin={kind !== undefined} onClose={() => setOpen(false)} />}
      {elsewhere.length > 0 && (
        <div className={classes.fault} role="alert">
          {elsewhere.map(({ field: path, message }) => (
            <div key={`${path} ${message}`}>
              <span className="mono">{path.slice(where.length).replace(/^\./, '')}</span> {message}
            </div>
          ))}
        </div>
      )}
    </div>
  );
});

function typeName(value: unknown): string {
  const type = value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : typeof value;
  return `A ${type}. Quotes make a text of a number: "12".`;
}

/** What a row says besides its three columns, on one line. */
function Extras({ row, name, onOpen }: { row: MappingRow; name: string; onOpen: () => void }) {
  const translated = row.value_map === undefined ? 0 : Object.keys(row.value_map).length;
  const parts = [
    ...(row.required === true ? ['required'] : []),
    ...(row.default === undefined ? [] : [`else ${writeLoose(row.default)}`]),
    ...(row.value_map === undefined ? [] : [`${translated} ${translated === 1 ? 'value' : 'values'} translated`]),
    ...(row.when === undefined ? [] : [`only when ${conditionText(row.when)}`]),
  ];
  if (parts.length === 0) return null;
  return (
    <button type="button" className={classes.extras} aria-label={`Details of ${name}: ${parts.join(' ')}`} onClick={onOpen}>
      {parts.map((part) => (
        <span key={part}>{part} </span>
      ))}
    </button>
  );
}

interface RowMenuProps extends RowProps {
  kind: Kind | undefined;
  name: string;
  open: boolean;
  onDetails: () => void;
}
/** The handle: drag it to order, open it for everything else. The menu is made when it is opened. */
function RowMenu({ row, at, listKey, disabled, kind, name, open, onDetails, onChange, onRemove, onMove }: RowMenuProps) {
  const [shown, setShown] = useState(false);
  const wasClosed = useRef(false);
  const handle = (
    <button
      // The handle beside the menu is another element than the one without it: the focus returns to this one.
      ref={(button) => {
        if (button === null || !wasClosed.current) return;
        wasClosed.current = false;
        button.focus();
      }}
      type="button"
      className={classes.handle}
      aria-label={`Actions for ${name}`}
      aria-haspopup="menu"
      aria-expanded={shown}
      disabled={disabled}
      draggable={!disabled}
      onDragStart={(event) => event.dataTransfer.setData(dragType(listKey), String(at))}
      onClick={() => setShown(true)}
    >
      <DragIcon />
    </button>
  );
  if (!shown) return handle;
  function setKind(next: Kind) {
    const { source: _s, value: _v, template: _t, ...rest } = row;
    onChange(at, { ...rest, [next]: '' });
  }
  return (
    <Menu
      position="bottom-start"
      opened
      onClose={() => {
        wasClosed.current = true;
        setShown(false);
      }}
      trapFocus
    >
      <Menu.Target>{handle}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onDetails}>{open ? 'Close the details' : 'Arguments, default, translation, condition …'}</Menu.Item>
        <Menu.Item onClick={() => onMove(at, -1)}>Move up (Alt ↑)</Menu.Item>
        <Menu.Item onClick={() => onMove(at, 1)}>Move down (Alt ↓)</Menu.Item>
        {kind !== undefined && (
          <>
            <Menu.Label>Takes its value from</Menu.Label>
            {(Object.keys(KINDS) as Kind[]).map((one) => (
              <Menu.Item key={one} onClick={() => one !== kind && setKind(one)} rightSection={one === kind ? '✓' : undefined}>
                {KINDS[one]}
              </Menu.Item>
            ))}
            <Menu.Item
              onClick={() => onChange(at, { ...row, required: row.required !== true })}
              rightSection={row.required ? '✓' : undefined}
            >
              Drop the event without it
            </Menu.Item>
          </>
        )}
        <Menu.Divider />
        <Menu.Item color="red" onClick={() => onRemove(at)}>
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
