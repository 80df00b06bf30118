/**
 * A text field whose text the address holds. The router changes the address a moment after the key: a field that is bound to it directly loses
 * its caret, and a date its digits.
 */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

export interface AddressInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** As the address has it. */
  value: string;
  onChange: (text: string) => void;
}
export function AddressInput({ value, onChange, ...props }: AddressInputProps) {
  /** `sent`: texts that the address does not have yet. */
  const [typed, setTyped] = useState({ text: value, of: value, sent: [] as readonly string[] });
  if (typed.of !== value) {
    const at = typed.sent.indexOf(value);
    // The address was changed by this field, or else by Back or a button.
    setTyped(at < 0 ? { text: value, of: value, sent: [] } : { ...typed, of: value, sent: typed.sent.slice(at + 1) });
  }
  return (
    <TextInput
      {...props}
      value={typed.text}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped((old) => ({ ...old, text, sent: [...old.sent, text] }));
        onChange(text);
      }}
    />
  );
}
