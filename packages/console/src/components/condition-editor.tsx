/**
 * A condition as lines of field, operator and value, in groups: all, any or none of them. Made of native fields, because a mapping may have
 * hundreds of conditions. Faults of the compiler stand at the line that causes them.
 */
import type { Condition, ConditionOp } from '@firsthand/core/config/rules.ts';
import {
  conditionText,
  type GroupKind,
  NEW_COMPARISON,
  OPERATORS,
  readGroup,
  takesList,
  takesText,
  takesValue,
  writeGroup,
} from './condition.ts';
import classes from './condition-editor.module.css';
import field from './field.module.css';
import { LooseInput } from './loose-input.tsx';
import { readLoose, readLooseList, writeLoose, writeLooseList } from './loose-value.ts';
import { Suggest, type Suggestion } from './suggest.tsx';

interface Fault {
  field: string;
  message: string;
}
interface Shared {
  disabled: boolean;
  faults: readonly Fault[];
  /** Completes the path of a field. */
  suggestions: (typed: string) => Suggestion[];
}
export interface ConditionEditorProps extends Shared {
  /** For example `Filter of Order Completed`. Names every field inside. */
  label: string;
  /** The condition's path in the configuration, as faults name it. */
  where: string;
  value: unknown;
  /** Undefined once the last line is removed. */
  onChange: (condition: Condition | undefined) => void;
}

const KINDS: Record<GroupKind, string> = { all: 'all of these', any: 'any of these', none: 'none of these' };

export function ConditionEditor({ label, where, value, onChange, ...shared }: ConditionEditorProps) {
  // A single comparison is shown as a group, so that another one can be added.
  const group = readGroup(value, where) ?? { kind: 'all' as const, parts: [{ condition: value, where }] };
  const write = (kind: GroupKind, parts: readonly unknown[]) => onChange(parts.length === 0 ? undefined : writeGroup(kind, parts));
  const conditions = group.parts.map(({ condition }) => condition);
  return (
    <fieldset className={classes.group} aria-label={label}>
      <select
        className={field.select}
        aria-label={`How the conditions combine, ${label}`}
        disabled={shared.disabled}
        value={group.kind}
        onChange={({ currentTarget }) => write(currentTarget.value as GroupKind, conditions)}
      >
        {Object.entries(KINDS).map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </select>
      {group.parts.map((part, at) => {
        const name = `condition ${at + 1}, ${label}`;
        const set = (next: unknown) => write(group.kind, next === undefined ? conditions.toSpliced(at, 1) : conditions.with(at, next));
        return readGroup(part.condition, part.where) === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id
          <Comparison key={at} label={name} where={part.where} value={part.condition} onChange={set} {...shared} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id
          <ConditionEditor key={at} label={name} where={part.where} value={part.condition} onChange={set} {...shared} />
        );
      })}
      {!shared.disabled && (
        <div className={classes.actions}>
          <button
            type="button"
            className={classes.add}
            aria-label={`Add a condition, ${label}`}
            onClick={() => write(group.kind, [...conditions, NEW_COMPARISON])}
          >
            + condition
          </button>
          <button
            type="button"
            className={classes.add}
            aria-label={`Add a group, ${label}`}
            onClick={() => write(group.kind, [...conditions, writeGroup(group.kind === 'any' ? 'all' : 'any', [NEW_COMPARISON])])}
          >
            + group
          </button>
        </div>
      )}
    </fieldset>
  );
}

interface ComparisonProps extends Shared {
  label: string;
  where: string;
  value: unknown;
  onChange: (next: unknown) => void;
}
function Comparison({ label, where, value, onChange, disabled, faults, suggestions }: ComparisonProps) {
  const { field: path, op, value: expected } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const own = faults.filter((fault) => fault.field === where || fault.field.startsWith(`${where}.`));
  const isBad = (key: string) => own.some((fault) => fault.field === `${where}.${key}`);
  const [read, write] = takesList(op)
    ? [readLooseList, writeLooseList]
    : takesText(op)
      ? [(text: string) => text, (text: unknown) => String(text ?? '')]
      : [readLoose, writeLoose];
  function setOp(next: ConditionOp) {
    if (!takesValue(next)) onChange({ field: path, op: next });
    else if (takesList(next) === takesList(op)) onChange({ field: path, op: next, value: expected ?? '' });
    else
      onChange({
        field: path,
        op: next,
        value: takesList(next) ? (expected === '' ? [] : [expected]) : ((expected as unknown[])[0] ?? ''),
      });
  }
  return (
    <div className={classes.comparison}>
      <Suggest
        label={`Field, ${label}`}
        placeholder="properties.total"
        value={typeof path === 'string' ? path : ''}
        disabled={disabled}
        invalid={isBad('field')}
        suggestions={suggestions}
        onChange={(next) => onChange({ ...(value as object), field: next })}
      />
      <select
        className={field.select}
        aria-label={`Operator, ${label}`}
        aria-invalid={isBad('op')}
        disabled={disabled}
        value={typeof op === 'string' ? op : ''}
        onChange={({ currentTarget }) => setOp(currentTarget.value as ConditionOp)}
      >
        {Object.entries(OPERATORS).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {takesValue(op) ? (
        <LooseInput
          label={`Value, ${label}`}
          placeholder={takesList(op) ? 'EUR, USD' : ''}
          value={expected}
          disabled={disabled}
          invalid={isBad('value')}
          read={read}
          write={write}
          onChange={(next) => onChange({ ...(value as object), value: next })}
        />
      ) : (
        <span />
      )}
      {!disabled && (
        <button type="button" className={classes.remove} aria-label={`Remove ${label}`} onClick={() => onChange(undefined)}>
          ×
        </button>
      )}
      {own.length > 0 && (
        <div className={classes.fault} role="alert">
          {own.map(({ message }) => message).join(' ')}
        </div>
      )}
    </div>
  );
}

/** A condition on one line that opens its editor. Without a condition, the offer to add one. */
export function ConditionSummary({ value, open, onToggle, label }: { value: unknown; open: boolean; onToggle: () => void; label: string }) {
  return (
    <button
      type="button"
      className={classes.summary}
      aria-expanded={open}
      aria-label={`${label}: only when ${conditionText(value)}`}
      onClick={onToggle}
    >
      <span className="dim">only when</span> <span className="mono">{conditionText(value)}</span>
    </button>
  );
}
