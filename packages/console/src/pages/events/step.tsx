import type { ReactNode } from 'react';
import { type Tone, words } from '../../components/tag.tsx';
import { milliseconds } from '../../format.ts';
import classes from './events.module.css';

const STEP_NAMES: Record<string, string> = {
  context: 'Context',
  consent: 'Consent',
  bots: 'Bots',
  pii: 'Privacy',
  session: 'Session',
  identity: 'Identity',
  memory: 'Visitor memory',
  custom_code: 'Custom code',
  routing: 'Routing rules',
  tracking_plan: 'Tracking plan',
  transformation: 'Transformation',
  processing: 'Processing',
};
export const stepName = (step: string): string => STEP_NAMES[step] ?? words(step);

/** The time since the event was received. */
export function since(start: number, at: string | undefined): string {
  return at === undefined ? '' : `+${milliseconds(Math.max(0, Date.parse(at) - start))}`;
}
/** One entry of the timeline. */
export function Step({
  title,
  marks,
  when,
  tone,
  children,
}: {
  title: ReactNode;
  marks?: ReactNode;
  when: string;
  tone: Tone;
  children?: ReactNode;
}) {
  return (
    <li className={classes.step} data-tone={tone}>
      <div className={classes.line}>
        <span className={classes.what}>
          <b>{title}</b>
          {marks}
        </span>
        <span className={`mono ${classes.when}`}>{when}</span>
      </div>
      {children}
    </li>
  );
}
