/** A text field of a JSON value. What is typed stays as it is (`1.0`) while it means the value; another value from outside replaces it. */
import { useState } from 'react';
import classes from './field.module.css';
import { isSameJson, readLoose, writeLoose } from './loose-value.ts';

export interface LooseInputProps {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled?: boolean;
  placeholder?: string;
  invalid?: boolean;
  read?: (text: string) => unknown;
  write?: (value: unknown) => string;
}

export function LooseInput(props: LooseInputProps) {
  const { label, value, onChange, disabled = false, placeholder, invalid = false, read = readLoose, write = writeLoose } = props;
  const [text, setText] = useState(() => write(value));
  return (
    <input
      className={classes.input}
      aria-label={label}
      aria-invalid={invalid}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder}
      disabled={disabled}
      value={isSameJson(read(text), value) ? text : write(value)}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        onChange(read(currentTarget.value));
      }}
    />
  );
}
