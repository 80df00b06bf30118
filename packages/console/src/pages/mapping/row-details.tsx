/** Everything of a row that its three columns have no room for: arguments of transforms, default, translation of values, condition. */
import type { TransformArg } from '@firsthand/core/transforms/define.ts';
import { TRANSFORMS } from '@firsthand/core/transforms/index.ts';
import { useState } from 'react';
import { NEW_COMPARISON } from '../../components/condition.ts';
import { ConditionEditor } from '../../components/condition-editor.tsx';
import field from '../../components/field.module.css';
import { LooseInput } from '../../components/loose-input.tsx';
import { isSameJson } from '../../components/loose-value.ts';
import { Suggest } from '../../components/suggest.tsx';
import type { Completion } from './completions.ts';
import { type MappingRow, type TransformUse, withKey } from './draft.ts';
import classes from './mapping.module.css';
import type { Fault } from './rehearse.ts';
import { suggestPaths } from './suggest-paths.tsx';
import { argsOf, nameOf, withTransforms } from './transforms.tsx';

export interface EditedRow {
  row: MappingRow;
  /** In its list. */
  at: number;
  /** The row's own path in the config. */
  where: string;
  faults: readonly Fault[];
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  onChange: (at: number, row: MappingRow) => void;
}

export function RowDetails({
  row,
  at,
  name,
  where,
  faults,
  completions,
  disabled,
  hasOrigin,
  onChange,
  onClose,
}: EditedRow & { name: string; hasOrigin: boolean; onClose: () => void }) {
  const uses = row.transforms ?? [];
  const withArguments = uses.flatMap((use, index) => (TRANSFORMS.get(nameOf(use))?.args.length ? [{ use, index }] : []));
  return (
    <section className={classes.details} aria-label={`Details of ${name}`}>
      {withArguments.map(({ use, index }) => (
        <div key={`${index} ${nameOf(use)}`} className={classes.detail}>
          <span className="mono">{nameOf(use)}</span>
          <Arguments
            use={use}
            name={name}
            completions={completions}
            disabled={disabled}
            onChange={(next) => onChange(at, withTransforms(row, uses.with(index, next)))}
          />
        </div>
      ))}
      {hasOrigin && (
        <>
          <div className={classes.detail}>
            <span>Default</span>
            <div>
              <LooseInput
                label={`Default, ${name}`}
                placeholder="none: the target is left out"
                disabled={disabled}
                value={row.default}
                onChange={(value) => onChange(at, withKey(row, 'default', value === '' ? undefined : value))}
              />
            </div>
          </div>
          <div className={classes.detail}>
            <span>Translate</span>
            <ValueMap
              name={name}
              value={row.value_map}
              disabled={disabled}
              onChange={(map) => onChange(at, withKey(row, 'value_map', map))}
            />
          </div>
        </>
      )}
      <div className={classes.detail}>
        <span>Only when</span>
        {row.when === undefined ? (
          <div>
            <button
              type="button"
              className={classes.link}
              disabled={disabled}
              aria-label={`Add a condition to ${name}`}
              onClick={() => onChange(at, { ...row, when: { all: [NEW_COMPARISON] } })}
            >
              + condition
            </button>
          </div>
        ) : (
          <ConditionEditor
            label={`Condition of ${name}`}
            where={`${where}.when`}
            value={row.when}
            faults={faults}
            disabled={disabled}
            suggestions={(typed) => suggestPaths(completions, typed)}
            onChange={(when) => onChange(at, withKey(row, 'when', when))}
          />
        )}
      </div>
      <button type="button" className={classes.link} aria-label={`Close the details of ${name}`} onClick={onClose}>
        Close
      </button>
    </section>
  );
}

interface ArgumentsProps {
  use: TransformUse;
  name: string;
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  onChange: (use: TransformUse) => void;
}
function Arguments({ use, name, completions, disabled, onChange }: ArgumentsProps) {
  const transform = nameOf(use);
  const specs = TRANSFORMS.get(transform)?.args ?? [];
  const args = argsOf(use);
  const repeats = specs.at(-1)?.rest === true;
  // Where the last one may be repeated, there is always an empty one to fill in.
  const count = repeats ? Math.max(args.length + 1, specs.length) : Math.max(args.length, specs.length);
  function set(index: number, value: unknown) {
    const next = Array.from({ length: Math.max(args.length, index + 1) }, (_, one) => (one === index ? value : args[one]) ?? null);
    while (next.length > 0 && next.at(-1) === null) next.pop();
    onChange(next.length === 0 ? transform : { name: transform, args: next });
  }
  return (
    <div className={classes.arguments}>
      {Array.from({ length: count }, (_, index) => {
        const spec = specs[Math.min(index, specs.length - 1)];
        return (
          spec && (
            <Argument
              // biome-ignore lint/suspicious/noArrayIndexKey: arguments are known by their place
              key={index}
              spec={spec}
              label={`${spec.name}${repeats && index >= specs.length - 1 ? ` ${index - specs.length + 2}` : ''} of ${transform}, ${name}`}
              value={args[index]}
              completions={completions}
              disabled={disabled}
              onChange={(value) => set(index, value)}
            />
          )
        );
      })}
    </div>
  );
}

interface ArgumentProps {
  spec: TransformArg;
  label: string;
  value: unknown;
  completions: ReadonlyMap<string, Completion>;
  disabled: boolean;
  onChange: (value: unknown) => void;
}
/** A value, or a field of the event that has it: `{"source": "properties.currency"}`. */
function Argument({ spec, label, value, completions, disabled, onChange }: ArgumentProps) {
  const source = typeof value === 'object' && value !== null ? (value as { source?: string | string[] }).source : undefined;
  const isField = source !== undefined;
  const fallback = spec.default === undefined ? 'required' : `${JSON.stringify(spec.default)} if empty`;
  return (
    <div className={classes.argument} title={spec.summary}>
      <span className="dim">{spec.name}</span>
      <select
        className={field.select}
        aria-label={`Origin of ${label}`}
        disabled={disabled}
        value={isField ? 'field' : 'value'}
        onChange={({ currentTarget }) => onChange(currentTarget.value === 'field' ? { source: '' } : undefined)}
      >
        <option value="value">value</option>
        <option value="field">field</option>
      </select>
      {isField ? (
        <Suggest
          label={`Field for ${label}`}
          placeholder="properties.currency"
          value={[source].flat().join(', ')}
          disabled={disabled}
          suggestions={(typed) => suggestPaths(completions, typed)}
          onChange={(text) => onChange({ source: text.includes(',') ? text.split(',').map((part) => part.trim()) : text })}
        />
      ) : (
        <LooseInput
          label={label}
          placeholder={fallback}
          disabled={disabled}
          value={value ?? undefined}
          {...(spec.type === 'string'
            ? { read: (text: string) => text, write: (one: unknown) => (one === undefined ? '' : String(one)) }
            : {})}
          onChange={(next) => onChange(next === '' ? undefined : next)}
        />
      )}
    </div>
  );
}

type Pair = [from: string, to: unknown];
interface ValueMapProps {
  name: string;
  value: Record<string, unknown> | undefined;
  disabled: boolean;
  onChange: (map: Record<string, unknown> | undefined) => void;
}
/** Pairs keep their place while their key is typed. */
function ValueMap({ name, value = NO_MAP, disabled, onChange }: ValueMapProps) {
  const [pairs, setPairs] = useState<Pair[]>(() => Object.entries(value));
  // Discarded, or typed as JSON: the pairs follow.
  const shown = isSameJson(mapOf(pairs), value) ? pairs : Object.entries(value);
  function set(next: Pair[]) {
    setPairs(next);
    const map = mapOf(next);
    onChange(next.length === 0 ? undefined : map);
  }
  return (
    <div className={classes.pairs}>
      {shown.map(([from, to], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pair's key is being typed
        <div key={index} className={classes.pair}>
          <input
            className={field.input}
            aria-label={`Value ${index + 1} to translate, ${name}`}
            placeholder="*: everything else"
            disabled={disabled}
            value={from}
            onChange={({ currentTarget }) => set(shown.with(index, [currentTarget.value, to]))}
          />
          <span aria-hidden>→</span>
          <LooseInput
            label={`Translation ${index + 1}, ${name}`}
            placeholder="null: left out"
            disabled={disabled}
            value={to}
            onChange={(next) => set(shown.with(index, [from, next]))}
          />
          <button
            type="button"
            className={classes.handle}
            disabled={disabled}
            aria-label={`Remove translation ${index + 1}, ${name}`}
            onClick={() => set(shown.toSpliced(index, 1))}
          >
            ×
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          className={classes.link}
          disabled={disabled}
          aria-label={`Add a translation to ${name}`}
          onClick={() => set([...shown, ['', '']])}
        >
          + translation
        </button>
      </div>
    </div>
  );
}
const NO_MAP: Record<string, unknown> = {};
const mapOf = (pairs: readonly Pair[]): Record<string, unknown> => Object.fromEntries(pairs.filter(([from]) => from !== ''));
