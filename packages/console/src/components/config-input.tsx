/** The input of one field of a vendor's configuration, by its type. */
import { NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { TableInput } from './table-input.tsx';

export interface ConfigColumn {
  key: string;
  label: string;
  type: string;
  required: boolean;
  placeholder?: string;
  help_text?: string;
  options?: string[];
  default?: unknown;
  multiline?: boolean;
}
export interface ConfigField extends ConfigColumn {
  /** Of a `table`; a `list` has one, which describes an entry. */
  columns?: ConfigColumn[];
}

export interface ConfigInputProps {
  field: ConfigField;
  value?: unknown;
  onChange: (value: unknown) => void;
  error?: ReactNode;
  /** Of a cell of a table, by its path inside the field: `[0].event`. */
  cellError?: (path: string) => ReactNode;
  disabled?: boolean;
}

/** Any field may be filled by a parameter of the pipeline; then it is a text, whatever its type. */
export const isParameter = (value: unknown): value is string => typeof value === 'string' && value.includes('{{pipeline_param.');

export function ConfigInput({ field, value, onChange, error, cellError, disabled = false }: ConfigInputProps) {
  const common = {
    label: field.label,
    description: field.help_text,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    error,
    disabled,
  };
  if ((field.type === 'table' || field.type === 'list') && !isParameter(value))
    return (
      <TableInput
        field={field}
        value={value}
        onChange={onChange}
        error={error}
        disabled={disabled}
        {...(cellError === undefined ? {} : { cellError })}
      />
    );
  // Headers may be stored as an object; their JSON text means the same.
  const text =
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value === undefined || value === null ? '' : String(value);
  const onText = ({ currentTarget }: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => onChange(currentTarget.value);
  const plain = <TextInput autoComplete="off" {...common} value={text} onChange={onText} />;
  if (isParameter(value)) return plain;
  if (field.type === 'boolean')
    return (
      <Switch
        label={field.label}
        description={field.help_text}
        error={error}
        disabled={disabled}
        checked={value === true || value === 'true'}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  if (field.type === 'select')
    return <Select data={field.options ?? []} {...common} value={text === '' ? null : text} onChange={(next) => onChange(next ?? '')} />;
  if (field.type === 'number') return <NumberInput {...common} value={text} onChange={onChange} />;
  // A password input drops the line breaks of a pasted key.
  if (field.multiline)
    return <Textarea autoComplete="off" spellCheck={false} autosize minRows={2} maxRows={8} {...common} value={text} onChange={onText} />;
  if (field.type === 'secret') return <PasswordInput autoComplete="off" {...common} value={text} onChange={onText} />;
  return plain;
}
