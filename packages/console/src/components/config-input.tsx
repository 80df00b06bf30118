/** The input of one field of a vendor's configuration, by its type. */
import { NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { type ConfigField, typeOf } from './config-field.ts';
import classes from './parameter-switch.module.css';
import { ParameterSwitch, useParameter } from './parameter-switch.tsx';
import { TableInput } from './table-input.tsx';

export interface ConfigInputProps {
  field: ConfigField;
  value?: unknown;
  onChange: (value: unknown) => void;
  error?: ReactNode;
  /** Of a cell of a table, by its path inside the field: `[0].event`. */
  cellError?: (path: string) => ReactNode;
  disabled?: boolean;
}

/** Text inputs take placeholders as they are. */
const TEXTS = ['string', 'secret'];
const PARAMETER_HELP = 'A parameter of the pipeline, which each pipeline sets among its settings.';

export function ConfigInput(props: ConfigInputProps) {
  const { field, value, onChange, error, disabled = false } = props;
  const [isParameter, toggle] = useParameter(field.key, value, onChange);
  if (TEXTS.includes(typeOf(field))) return <TypedInput {...props} />;
  return (
    <div className={classes.field}>
      {isParameter ? (
        <TextInput
          autoComplete="off"
          label={field.label}
          description={PARAMETER_HELP}
          withAsterisk={field.required}
          error={error}
          disabled={disabled}
          classNames={{ input: 'mono' }}
          value={String(value ?? '')}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <TypedInput {...props} />
      )}
      <ParameterSwitch label={field.label} on={isParameter} disabled={disabled} onToggle={toggle} />
    </div>
  );
}

function TypedInput({ field, value, onChange, error, cellError, disabled = false }: ConfigInputProps) {
  const common = {
    label: field.label,
    description: field.help_text,
    placeholder: field.placeholder,
    withAsterisk: field.required,
    error,
    disabled,
  };
  if (['list', 'table'].includes(typeOf(field)))
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
  return <TextInput autoComplete="off" {...common} value={text} onChange={onText} />;
}
