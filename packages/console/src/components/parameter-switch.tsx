/**
 * Any field of a vendor's configuration may be filled by a parameter of the pipeline. A text field takes `{{pipeline_param.…}}` as it is;
 * the other kinds have this switch, which makes a text field of them.
 */
import { useState } from 'react';
import classes from './parameter-switch.module.css';

const isParameter = (value: unknown): value is string => typeof value === 'string' && value.includes('{{pipeline_param.');

export interface ParameterSwitchProps {
  /** Of the field. */
  label: string;
  on: boolean;
  disabled: boolean;
  onToggle: () => void;
}
export function ParameterSwitch({ label, on, disabled, onToggle }: ParameterSwitchProps) {
  return (
    <button
      type="button"
      className={classes.switch}
      aria-pressed={on}
      aria-label={`Fill ${label} from a parameter of the pipeline`}
      title={on ? 'Fill it in here instead' : 'Fill it from a parameter: each pipeline has its own value'}
      disabled={disabled}
      onClick={onToggle}
    >
      {'{{ }}'}
    </button>
  );
}

/** Whether the field is a text field now. It stays one while its placeholder is typed. */
export function useParameter(key: string, value: unknown, onChange: (value: unknown) => void): [isParameter: boolean, toggle: () => void] {
  const [chosen, setChosen] = useState(false);
  const on = chosen || isParameter(value);
  return [
    on,
    () => {
      setChosen(!on);
      onChange(on ? '' : `{{pipeline_param.${key}}}`);
    },
  ];
}
