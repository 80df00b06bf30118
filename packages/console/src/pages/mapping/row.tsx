/** One mapping: source → transforms → target. Alt ↑ and Alt ↓ move it; faults of the compiler stand below it. */
import { ActionIcon, Autocomplete, Menu, TagsInput, TextInput } from '@mantine/core';
import { memo } from 'react';
import { DragIcon } from '../../components/icons.tsx';
import type { MappingRow } from './draft.ts';
import classes from './mapping.module.css';

export interface RowProps {
  row: MappingRow;
  at: number;
  section: string;
  faults: readonly { message: string }[];
  changed: boolean;
  sources: readonly string[];
  transforms: readonly string[];
  disabled: boolean;
  onChange: (at: number, row: MappingRow) => void;
  onRemove: (at: number) => void;
  onMove: (at: number, by: number) => void;
}

type Kind = 'source' | 'value' | 'template';
const kindOf = (row: MappingRow): Kind => (row.template !== undefined ? 'template' : Object.hasOwn(row, 'value') ? 'value' : 'source');

export const Row = memo(function Row({
  row,
  at,
  section,
  faults,
  changed,
  sources,
  transforms,
  disabled,
  onChange,
  onRemove,
  onMove,
}: RowProps) {
  const kind = kindOf(row);
  const name = `row ${at + 1} of ${section}`;
  const names = (row.transforms ?? []).map((one) => (typeof one === 'string' ? one : one.name));
  function onKey(event: React.KeyboardEvent) {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    onMove(at, event.key === 'ArrowUp' ? -1 : 1);
  }
  function setKind(next: Kind) {
    const { source: _s, value: _v, template: _t, ...rest } = row;
    onChange(at, { ...rest, [next]: '' });
  }
  /** Transforms with arguments keep them while others are added or removed. */
  function setTransforms(next: string[]) {
    const known = new Map((row.transforms ?? []).map((one) => [typeof one === 'string' ? one : one.name, one]));
    const { transforms: _gone, ...rest } = row;
    onChange(at, next.length === 0 ? rest : { ...rest, transforms: next.map((one) => known.get(one) ?? one) });
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move the row whichever of its fields has the focus
    <div className={classes.row} data-bad={faults.length > 0} data-changed={changed} onKeyDown={onKey}>
      <Menu position="bottom-start" disabled={disabled}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Actions for ${name}`}>
            <DragIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => onMove(at, -1)}>Move up (Alt ↑)</Menu.Item>
          <Menu.Item onClick={() => onMove(at, 1)}>Move down (Alt ↓)</Menu.Item>
          <Menu.Label>Takes its value from</Menu.Label>
          {(['source', 'value', 'template'] as const).map((one) => (
            <Menu.Item key={one} onClick={() => setKind(one)} rightSection={one === kind ? '✓' : undefined}>
              {{ source: 'a field of the event', value: 'a fixed value', template: 'a template' }[one]}
            </Menu.Item>
          ))}
          <Menu.Item
            onClick={() => onChange(at, { ...row, required: row.required !== true })}
            rightSection={row.required ? '✓' : undefined}
          >
            Drop the event without it
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" onClick={() => onRemove(at)}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {kind === 'source' ? (
        <Autocomplete
          size="xs"
          aria-label={`Source, ${name}`}
          placeholder="properties.total"
          disabled={disabled}
          classNames={{ input: classes.mono ?? '' }}
          value={Array.isArray(row.source) ? row.source.join(', ') : (row.source ?? '')}
          data={[...sources]}
          limit={12}
          onChange={(text) => onChange(at, { ...row, source: text.includes(',') ? text.split(',').map((part) => part.trim()) : text })}
        />
      ) : (
        <TextInput
          size="xs"
          aria-label={`${kind === 'value' ? 'Value' : 'Template'}, ${name}`}
          leftSection={kind === 'value' ? '=' : '{}'}
          disabled={disabled}
          classNames={{ input: classes.mono ?? '' }}
          value={kind === 'value' ? (typeof row.value === 'string' ? row.value : JSON.stringify(row.value)) : (row.template ?? '')}
          onChange={({ currentTarget }) => onChange(at, { ...row, [kind]: currentTarget.value })}
        />
      )}
      <TagsInput
        size="xs"
        aria-label={`Transforms, ${name}`}
        placeholder={names.length === 0 ? '+ transform' : ''}
        disabled={disabled}
        value={names}
        data={[...transforms]}
        onChange={setTransforms}
        classNames={{ input: classes.transforms ?? '' }}
      />
      <TextInput
        size="xs"
        aria-label={`Target, ${name}`}
        disabled={disabled}
        classNames={{ input: classes.mono ?? '' }}
        value={row.target}
        onChange={({ currentTarget }) => onChange(at, { ...row, target: currentTarget.value })}
        rightSection={row.required ? '!' : undefined}
      />
      {faults.length > 0 && (
        <div className={classes.fault} role="alert">
          {faults.map(({ message }) => message).join('; ')}
        </div>
      )}
    </div>
  );
});
