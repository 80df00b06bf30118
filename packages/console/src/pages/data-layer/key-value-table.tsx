import { Button, Group, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import classes from './data-layer.module.css';

/** Pairs of text and choice. Rows keep their place while a key is typed. */
export function KeyValueTable({
  label,
  keyLabel,
  valueLabel,
  value,
  options,
  onChange,
}: {
  label: string;
  keyLabel: string;
  valueLabel: string;
  value: Record<string, string>;
  options: string[];
  onChange: (next: Record<string, string>) => void;
}) {
  const [rows, setRows] = useState<[string, string][]>(Object.entries(value));
  function update(next: [string, string][]) {
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
        <Group key={at} gap="xs" mb={4} wrap="nowrap">
          <TextInput
            size="xs"
            aria-label={`${keyLabel} ${at + 1}`}
            value={key}
            style={{ flex: 1 }}
            onChange={({ currentTarget }) => update(rows.map((row, index) => (index === at ? [currentTarget.value, row[1]] : row)))}
          />
          <Select
            size="xs"
            w={150}
            aria-label={`${valueLabel} ${at + 1}`}
            allowDeselect={false}
            data={options.includes(chosen) ? options : [...options, chosen]}
            value={chosen}
            onChange={(next) => update(rows.map((row, index) => (index === at ? [row[0], next ?? chosen] : row)))}
          />
          <Button
            variant="subtle"
            color="gray"
            aria-label={`Remove ${key}`}
            onClick={() => update(rows.filter((_, index) => index !== at))}
          >
            ✕
          </Button>
        </Group>
      ))}
      <Button variant="default" onClick={() => setRows([...rows, ['', options[0] ?? '']])}>
        Add a category
      </Button>
    </div>
  );
}
const pairsOf = (rows: readonly [string, string][]): Record<string, string> =>
  Object.fromEntries(rows.filter(([key]) => key.trim() !== ''));
/** The order of keys has no meaning, and a store may change it. */
function isSame(one: Record<string, string>, other: Record<string, string>): boolean {
  const sorted = (pairs: Record<string, string>) => JSON.stringify(Object.entries(pairs).sort());
  return sorted(one) === sorted(other);
}
