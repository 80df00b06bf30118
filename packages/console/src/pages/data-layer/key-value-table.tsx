import { Button, Group, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import classes from './data-layer.module.css';

export interface KeyValueTableProps<V> {
  label: string;
  keyLabel: string;
  addLabel: string;
  placeholder?: string;
  disabled: boolean;
  value: Readonly<Record<string, V>>;
  /** The value of a new row. */
  initial: V;
  error?: (key: string) => ReactNode;
  /** The field of a row's value. */
  field: (value: V, onChange: (value: V) => void, at: number) => ReactNode;
  onChange: (next: Record<string, V>) => void;
}

/** Pairs of a text and a value. Rows keep their place while a key is typed. */
export function KeyValueTable<V>(props: KeyValueTableProps<V>) {
  const { label, keyLabel, addLabel, placeholder, disabled, value, initial, error, field, onChange } = props;
  const [rows, setRows] = useState<[string, V][]>(Object.entries(value));
  function update(next: [string, V][]) {
    setRows(next);
    onChange(pairsOf(next));
  }
  // Discarded, or replaced by somebody else's version: the rows follow.
  if (!isSame(pairsOf(rows), value)) setRows(Object.entries(value));
  return (
    <div>
      <div className={classes.label}>{label}</div>
      {rows.map(([key, chosen], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row's key is being typed
        <Group key={at} gap="xs" mb={4} wrap="nowrap" align="flex-start">
          <TextInput
            size="xs"
            disabled={disabled}
            aria-label={`${keyLabel} ${at + 1}`}
            {...(placeholder === undefined ? {} : { placeholder })}
            value={key}
            error={error?.(key)}
            style={{ flex: 1 }}
            onChange={({ currentTarget }) => update(rows.with(at, [currentTarget.value, chosen]))}
          />
          {field(chosen, (next) => update(rows.with(at, [key, next])), at)}
          <Button
            variant="subtle"
            color="gray"
            disabled={disabled}
            aria-label={`Remove ${key}`}
            onClick={() => update(rows.toSpliced(at, 1))}
          >
            ✕
          </Button>
        </Group>
      ))}
      <Button variant="default" disabled={disabled} onClick={() => setRows([...rows, ['', initial]])}>
        {addLabel}
      </Button>
    </div>
  );
}
function pairsOf<V>(rows: readonly [string, V][]): Record<string, V> {
  return Object.fromEntries(rows.filter(([key]) => key.trim() !== ''));
}
/** The order of keys has no meaning, and a store may change it. */
function isSame(one: object, other: object): boolean {
  const sorted = (pairs: object) => JSON.stringify(Object.entries(pairs).sort());
  return sorted(one) === sorted(other);
}
