/** The transforms of a row in their order, as chips; typing adds one, Backspace takes the last away, a chip opens its arguments. */
import { TRANSFORMS } from '@firsthand/core/transforms/index.ts';
import { useState } from 'react';
import { writeLoose } from '../../components/loose-value.ts';
import { Suggest, type Suggestion } from '../../components/suggest.tsx';
import type { MappingRow, TransformUse } from './draft.ts';
import { withKey } from './draft.ts';
import classes from './mapping.module.css';

const NAMES = [...TRANSFORMS.keys()].sort();
const MOST = 10;
export const nameOf = (use: TransformUse): string => (typeof use === 'string' ? use : use.name);
export const argsOf = (use: TransformUse): unknown[] => (typeof use === 'string' ? [] : (use.args ?? []));
export const withTransforms = (row: MappingRow, transforms: TransformUse[]): MappingRow =>
  withKey(row, 'transforms', transforms.length === 0 ? undefined : transforms);
/** A transform that needs arguments which have no default. */
const needsArguments = (name: string): boolean => TRANSFORMS.get(name)?.args.some((arg) => arg.default === undefined) ?? false;

export function Transforms({
  row,
  at,
  name,
  disabled,
  onChange,
  onArguments,
}: {
  row: MappingRow;
  at: number;
  name: string;
  disabled: boolean;
  onChange: (at: number, row: MappingRow) => void;
  /** Opens the place where arguments are filled in. */
  onArguments: () => void;
}) {
  const [typed, setTyped] = useState('');
  const list = row.transforms ?? [];
  const set = (next: TransformUse[]) => onChange(at, withTransforms(row, next));
  return (
    <span className={classes.chips}>
      {list.map((use, index) => {
        const transform = nameOf(use);
        const args = argsOf(use).map((arg) => writeLoose(arg));
        const text = args.length === 0 ? transform : `${transform}(${args.join(', ')})`;
        const summary = TRANSFORMS.get(transform)?.summary;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same transform may stand twice
          <span key={index} className={classes.chip} title={summary}>
            {(TRANSFORMS.get(transform)?.args.length ?? 0) > 0 ? (
              <button type="button" aria-label={`Arguments of ${text}, ${name}`} onClick={onArguments}>
                {text}
              </button>
            ) : (
              text
            )}
            {!disabled && (
              <button type="button" aria-label={`Remove ${transform}, ${name}`} onClick={() => set(list.toSpliced(index, 1))}>
                ×
              </button>
            )}
          </span>
        );
      })}
      <span className={classes.add}>
        <Suggest
          label={`Transforms, ${name}`}
          value={typed}
          placeholder="+ add"
          disabled={disabled}
          suggestions={suggestTransforms}
          onChange={setTyped}
          onPick={(transform) => {
            setTyped('');
            set([...list, transform]);
            if (needsArguments(transform)) onArguments();
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Backspace' || typed !== '' || list.length === 0) return;
            event.preventDefault();
            set(list.slice(0, -1));
          }}
        />
      </span>
    </span>
  );
}

function suggestTransforms(text: string): Suggestion[] {
  const wanted = text.trim().toLowerCase();
  return NAMES.filter((one) => one.includes(wanted))
    .sort((a, b) => Number(b.startsWith(wanted)) - Number(a.startsWith(wanted)))
    .slice(0, MOST)
    .map((one) => ({
      value: one,
      content: (
        <>
          <span className="mono">{one}</span>
          <div className="dim">{TRANSFORMS.get(one)?.summary}</div>
        </>
      ),
    }));
}
