import { Link, type LinkProps } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Sparkline } from './sparkline.tsx';
import classes from './stat.module.css';

type Target = Pick<LinkProps, 'to' | 'search' | 'params'>;

export interface StatProps {
  label: string;
  value: string;
  /** Text below the number. Each number in it links to the events it counts, as the large one does. */
  note?: string | readonly { text: string; link: Target; title?: string }[];
  /** `+3 %`, and what it is compared with. */
  change?: string | undefined;
  against?: string;
  /** The values over the time range, oldest first. */
  series?: number[];
  tone?: 'bad' | undefined;
  /** What it counts, where the label does not say it. */
  counts?: string;
  /** Where the number's events are listed. */
  link: Target;
}

/** One number, what it means, how it moved, and the way to what it counts. */
export function Stat({ label, value, note = '', change, against, series, tone, counts, link }: StatProps) {
  const notes = typeof note === 'string' ? [] : note;
  return (
    <div className={classes.stat}>
      <Link className={classes.link} title={counts} {...(link as { to: string })}>
        <span className={classes.label}>{label}</span>
        <span className={classes.value} data-tone={tone}>
          {value}
          {change !== undefined && (
            <span className={classes.change} title={against}>
              {change} <span className="hidden">{against}</span>
            </span>
          )}
        </span>
        {typeof note === 'string' && (
          <span className={classes.note} title={note}>
            {note}
          </span>
        )}
      </Link>
      {notes.length > 0 && (
        <span className={classes.note} title={notes.map(({ text }) => text).join(' · ')}>
          {notes.map(({ text, title, link: to }, at) => (
            <Fragment key={text}>
              {/* The dot stays on the line of the text before it. */}
              {at > 0 && '\u00a0· '}
              <Link className={classes.own} title={title} {...(to as { to: string })}>
                {text}
              </Link>
            </Fragment>
          ))}
        </span>
      )}
      {series !== undefined && series.length > 1 && <Sparkline values={series} label={`${label} over time`} tone={tone} />}
    </div>
  );
}
export function Stats({ children }: { children: ReactNode }) {
  return <div className={classes.row}>{children}</div>;
}
