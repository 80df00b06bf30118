/**
 * A text field with suggestions, made of one native input: a mapping has hundreds of rows, and the fields of the component library cost
 * a hundred times as much each. The list exists only while the field has the focus.
 */
import { type ReactNode, useId, useRef, useState } from 'react';
import { breakable } from './breakable.ts';
import classes from './field.module.css';

export interface Suggestion {
  /** What the field holds once it is chosen. */
  value: string;
  content: ReactNode;
}
export interface SuggestProps {
  label: string;
  value: string;
  placeholder?: string;
  disabled: boolean;
  invalid?: boolean;
  /** Called while the field has the focus. */
  suggestions: (typed: string) => Suggestion[];
  onChange: (text: string) => void;
  /** A suggestion was chosen, or Enter pressed. `onChange` if left out. */
  onPick?: (text: string) => void;
  onKeyDown?: (event: React.KeyboardEvent<HTMLInputElement>) => void;
}

export function Suggest({
  label,
  value,
  placeholder,
  disabled,
  invalid = false,
  suggestions,
  onChange,
  onPick = onChange,
  onKeyDown,
}: SuggestProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const found = open && !disabled ? suggestions(value) : [];
  const place = found.length > 0 ? input.current?.getBoundingClientRect() : undefined;
  function pick(text: string) {
    setOpen(false);
    setActive(-1);
    onPick(text);
  }
  function onKey(event: React.KeyboardEvent<HTMLInputElement>) {
    onKeyDown?.(event);
    if (event.defaultPrevented || event.altKey) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!open) return setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive(found.length === 0 ? -1 : (active + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      const chosen = found[active];
      if (chosen !== undefined) {
        event.preventDefault();
        pick(chosen.value);
      } else if (onPick !== onChange && value.trim() !== '') {
        event.preventDefault();
        pick(value.trim());
      }
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation();
      setOpen(false);
    }
  }
  return (
    <>
      <span className={classes.whole} data-text={breakable(value)}>
        <input
          ref={input}
          className={classes.input}
          aria-label={label}
          aria-invalid={invalid}
          role="combobox"
          aria-expanded={found.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 && active < found.length ? `${id}-${active}` : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          disabled={disabled}
          value={value}
          onChange={({ currentTarget }) => {
            setOpen(true);
            setActive(-1);
            onChange(currentTarget.value);
          }}
          onFocus={() => setOpen(true)}
          onClick={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKey}
        />
      </span>
      {place !== undefined && (
        <div
          id={id}
          role="listbox"
          aria-label={`Suggestions for ${label}`}
          className={classes.list}
          style={
            place.bottom > innerHeight - 280
              ? { left: Math.min(place.left, innerWidth - 350), bottom: innerHeight - place.top + 4 }
              : { left: Math.min(place.left, innerWidth - 350), top: place.bottom + 4 }
          }
        >
          {found.map(({ value: choice, content }, at) => (
            <div
              key={choice}
              id={`${id}-${at}`}
              role="option"
              aria-selected={at === active}
              tabIndex={-1}
              className={classes.option}
              // Before the field loses the focus, which would close the list.
              onMouseDown={(event) => {
                event.preventDefault();
                pick(choice);
              }}
            >
              {content}
            </div>
          ))}
        </div>
      )}
    </>
  );
}
