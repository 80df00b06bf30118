import type { ReactNode } from 'react';
import classes from './tag.module.css';

export type Tone = 'ok' | 'bad' | 'warn' | 'info' | 'neutral';

/** A short label. The tone shows how serious it is. */
export function Tag({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={classes.tag} data-tone={tone}>
      {children}
    </span>
  );
}

/** The tone of an event's verdict at an integration, of a stage in the live view, and of a health status. */
export function toneOf(word: string): Tone {
  if (['delivered', 'ok', 'ready', 'enabled', 'active', 'processed', 'replayed'].includes(word)) return 'ok';
  if (['dead_lettered', 'failing', 'rejected', 'webhook_rejected', 'misconfigured', 'expired'].includes(word)) return 'bad';
  if (['retrying', 'waiting', 'paused', 'building', 'accepted_by_vendor', 'pending'].includes(word)) return 'warn';
  return 'neutral';
}
/** `dead_lettered` → `dead lettered`. */
export const words = (name: string): string => name.replaceAll('_', ' ');
