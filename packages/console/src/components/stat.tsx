import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Sparkline } from './sparkline.tsx';
import classes from './stat.module.css';

export interface StatProps {
  label: string;
  value: string;
  note?: ReactNode;
  /** `+3 %`, and what it is compared with. */
  change?: string | undefined;
  against?: string;
  /** The values over the time range, oldest first. */
  series?: number[];
  tone?: 'bad' | undefined;
  /** Where the number's events are listed. */
  link?: Pick<LinkProps, 'to' | 'search' | 'params'>;
}

/** One number, what it means, how it moved, and the way to what it counts. */
export function Stat({ label, value, note, change, against, series, tone, link }: StatProps) {
  const content = (
    <>
      <span className={classes.label}>{label}</span>
      <span className={classes.value} data-tone={tone}>
        {value}
        {change !== undefined && (
          <span className={classes.change} title={against}>
            {change} <span className="hidden">{against}</span>
          </span>
        )}
      </span>
      <span className={classes.note} title={typeof note === 'string' ? note : undefined}>
        {note}
      </span>
      {series !== undefined && series.length > 1 && <Sparkline values={series} label={`${label} over time`} tone={tone} />}
    </>
  );
  if (link === undefined) return <div className={classes.stat}>{content}</div>;
  return (
    <Link className={`${classes.stat} ${classes.link}`} {...(link as { to: string })}>
      {content}
    </Link>
  );
}
export function Stats({ children }: { children: ReactNode }) {
  return <div className={classes.row}>{children}</div>;
}
