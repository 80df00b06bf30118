/** What is typed of a transformation, and the version it started from. */
import { afterSave } from '../../after-save.ts';

export interface Transformation {
  id: string;
  name: string;
  kind: 'rules' | 'code';
  rules: unknown[];
  code: string;
  enabled: boolean;
  event_filter: { event_names?: string[] } | null;
  updated_at: string;
}
interface Typed {
  name: string;
  kind: 'rules' | 'code';
  code: string;
  /** A text until it is saved. */
  rules: string;
  enabled: boolean;
  /** Empty: every event. */
  events: string[];
}
export interface Draft extends Typed {
  stored: Transformation;
}

const typedOf = ({ name, kind, code, rules, enabled, event_filter }: Transformation): Typed => ({
  name,
  kind,
  code,
  rules: JSON.stringify(rules, null, 2),
  enabled,
  events: event_filter?.event_names ?? [],
});
export const draftOf = (stored: Transformation): Draft => ({ stored, ...typedOf(stored) });
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
export function isChanged({ stored, ...typed }: Draft): boolean {
  const before = typedOf(stored);
  return (Object.keys(before) as (keyof Typed)[]).some((key) => !same(before[key], typed[key]));
}
/** The draft after `sent` was stored as `saved`. What was typed meanwhile stays. */
export function savedDraft(sent: Draft, { stored: _before, ...now }: Draft, saved: Transformation): Draft {
  const { stored: _sent, ...typed } = sent;
  return { stored: saved, ...afterSave<Typed>(typed, now, typedOf(saved)) };
}
/** Ordering stamps every transformation. Unless somebody else changed its content too, the draft goes on from the new stamp. */
export function orderedDraft(draft: Draft, now: Transformation): Draft {
  return same(typedOf(draft.stored), typedOf(now)) ? { ...draft, stored: now } : draft;
}
