import { useState } from 'react';
import { Tag, type Tone } from '../../components/tag.tsx';
import type { Change } from './changes.ts';
import classes from './mapping.module.css';

const FEW = 4;
const TONES: Record<Change['kind'], Tone> = { added: 'ok', removed: 'bad', changed: 'info', moved: 'neutral' };

/** The changes, one a line. More than a few are opened with a click. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  const [all, setAll] = useState(false);
  if (changes.length === 0) return null;
  return (
    <>
      <ul className={classes.changes} aria-label="Changes">
        {(all ? changes : changes.slice(0, FEW)).map(({ kind, path, before, after }) => (
          <li key={`${kind} ${path}`}>
            <Tag tone={TONES[kind]}>{kind}</Tag> <span className="mono dim">{path}</span>{' '}
            {before !== undefined && <span className={`mono ${classes.old}`}>{before}</span>}
            {after !== undefined && <span className="mono">{after}</span>}
          </li>
        ))}
      </ul>
      {changes.length > FEW && (
        <button type="button" className={classes.link} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `All ${changes.length} changes`}
        </button>
      )}
    </>
  );
}
