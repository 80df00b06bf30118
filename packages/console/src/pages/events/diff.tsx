import classes from './events.module.css';
import type { DiffLine } from './step-diff.ts';

const FEW = 6;

/** What a step changed. Closed to begin with unless `open`; then the first lines are shown. */
export function Diff({ lines, open }: { lines: readonly DiffLine[]; open: boolean }) {
  if (lines.length === 0) return null;
  const shown = (part: readonly DiffLine[]) =>
    part.map(({ path, before, after, hidden }) => (
      <div key={path}>
        {hidden && <div className={classes.gone}>{`− ${path}  (hidden by the privacy rules)`}</div>}
        {before !== undefined && <div className={classes.gone}>{`− ${path}  ${compact(before)}`}</div>}
        {after === undefined ? (
          before === undefined && !hidden && <div>{path}</div>
        ) : (
          <div className={classes.come}>{`+ ${path}  ${compact(after)}`}</div>
        )}
      </div>
    ));
  if (!open)
    return (
      <details className={`mono ${classes.diff}`}>
        <summary>{lines.map(({ path }) => path).join(', ')}</summary>
        {shown(lines)}
      </details>
    );
  return (
    <div className={`mono ${classes.diff}`}>
      {shown(lines.slice(0, FEW))}
      {lines.length > FEW && (
        <details>
          <summary>{lines.length - FEW} more</summary>
          {shown(lines.slice(FEW))}
        </details>
      )}
    </div>
  );
}
function compact(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 140 ? `${text.slice(0, 139)}…` : text;
}
