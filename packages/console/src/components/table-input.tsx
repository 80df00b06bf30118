/** A `table` or `list` field of a vendor's configuration: rows that can be added and removed, with faults at their cells. */
import { Button, Input, NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ConfigColumn, ConfigField } from './config-field.ts';
import parameter from './parameter-switch.module.css';
import { ParameterSwitch, useParameter } from './parameter-switch.tsx';
import classes from './table-input.module.css';
import { cellPath, newRow, rowsOf, storedOf, type TableRow, withCell } from './table-rows.ts';

export interface TableInputProps {
  field: ConfigField;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: ReactNode;
  cellError?: (path: string) => ReactNode;
  disabled: boolean;
}

export function TableInput({ field, value, onChange, error, cellError, disabled }: TableInputProps) {
  const columns = field.columns ?? [];
  const rows = rowsOf(field, value);
  const set = (next: readonly TableRow[]) => onChange(storedOf(field, next));
  return (
    <Input.Wrapper
      component="fieldset"
      className={classes.field}
      label={field.label}
      labelElement="div"
      description={field.help_text}
      withAsterisk={field.required}
      error={error}
      aria-label={field.label}
    >
      {rows.length > 0 && (
        <table className={classes.table}>
          <thead>
            <tr>
              {columns.map(({ key, label, help_text, required }) => (
                <th key={key} scope="col" title={help_text}>
                  {label}
                  {required && <span className={classes.required}> *</span>}
                </th>
              ))}
              <td />
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id; their cells follow the value
              <tr key={at}>
                {columns.map((column) => (
                  <td key={column.key}>
                    <Cell
                      column={column}
                      label={`${column.label}, row ${at + 1} of ${field.label}`}
                      value={row[column.key]}
                      error={cellError?.(cellPath(field, at, column.key))}
                      disabled={disabled}
                      onChange={(next) => set(rows.with(at, withCell(row, column.key, next)))}
                    />
                  </td>
                ))}
                <td>
                  <Button
                    variant="subtle"
                    color="gray"
                    size="compact-sm"
                    disabled={disabled}
                    aria-label={`Remove row ${at + 1} of ${field.label}`}
                    onClick={() => set(rows.toSpliced(at, 1))}
                  >
                    ✕
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Button
        variant="default"
        mt={4}
        disabled={disabled}
        aria-label={`Add a row to ${field.label}`}
        onClick={() => set([...rows, newRow(field)])}
      >
        Add a row
      </Button>
    </Input.Wrapper>
  );
}

interface CellProps {
  column: ConfigColumn;
  label: string;
  value: unknown;
  error: ReactNode;
  disabled: boolean;
  onChange: (value: unknown) => void;
}
function Cell(props: CellProps) {
  const { column, label, value, error, disabled, onChange } = props;
  const [isParameter, toggle] = useParameter(column.key, value, onChange);
  if (column.type === 'string' || column.type === 'secret') return <TypedCell {...props} />;
  return (
    <div className={parameter.cell}>
      {isParameter ? (
        <TypedCell {...{ label, value, error, disabled, onChange }} column={{ ...column, type: 'string' }} />
      ) : (
        <TypedCell {...props} />
      )}
      <ParameterSwitch label={label} on={isParameter} disabled={disabled} onToggle={toggle} />
    </div>
  );
}
function TypedCell({ column, label, value, error, disabled, onChange }: CellProps) {
  const text = value === undefined || value === null ? '' : String(value);
  const common = { size: 'xs', 'aria-label': label, error, disabled, autoComplete: 'off', placeholder: column.placeholder } as const;
  const onText = ({ currentTarget }: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(currentTarget.value);
  if (column.type === 'boolean')
    return (
      <Switch
        size="xs"
        aria-label={label}
        error={error}
        disabled={disabled}
        checked={value === true || value === 'true'}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  if (column.type === 'select')
    return <Select {...common} data={column.options ?? []} value={text === '' ? null : text} onChange={(next) => onChange(next ?? '')} />;
  if (column.type === 'number') return <NumberInput {...common} value={text} onChange={onChange} />;
  // A password input drops line breaks.
  if (column.multiline) return <Textarea {...common} spellCheck={false} autosize maxRows={6} value={text} onChange={onText} />;
  if (column.type === 'secret') return <PasswordInput {...common} value={text} onChange={onText} />;
  return <TextInput {...common} value={text} onChange={onText} />;
}
