/** The input of one field of a vendor's configuration, by its type. */
import { NumberInput, PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

export interface ConfigField {
  key: string;
  label: string;
  type: string;
  required: boolean;
  placeholder?: string;
  help_text?: string;
  options?: string[];
  default?: unknown;
}

export interface ConfigInputProps {
  field: ConfigField;
  value?: unknown;
  onChange: (value: unknown) => void;
  error?: ReactNode;
  disabled?: boolean;
}

export function ConfigInput({ field, value, onChange, error, disabled = false }: ConfigInputProps) {
  const common = {
    label: field.label,
    description: field.help_text,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    error,
    disabled,
  };
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (field.type === 'boolean')
    return (
      <Switch
        label={field.label}
        description={field.help_text}
        error={error}
        disabled={disabled}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  if (field.type === 'select')
    return <Select data={field.options ?? []} {...common} value={text === '' ? null : text} onChange={(next) => onChange(next ?? '')} />;
  if (field.type === 'number') return <NumberInput {...common} value={text} onChange={onChange} />;
  const onText = ({ currentTarget }: React.ChangeEvent<HTMLInputElement>) => onChange(currentTarget.value);
  if (field.type === 'secret') return <PasswordInput autoComplete="off" {...common} value={text} onChange={onText} />;
  return <TextInput autoComplete="off" {...common} value={text} onChange={onText} />;
}
