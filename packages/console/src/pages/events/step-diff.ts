/**
 * What each processing step changed, as lines of a diff. The service finds it by running the event again. Where that is not possible, or ends
 * differently because the configuration was changed since, the lines come from the trace: it has the paths that a step changed, and the values
 * are those of the event as received (as far as it is shown) and of the processed event.
 */
export interface StepRecord {
  stage?: string;
  time?: string;
  step?: string;
  result?: string;
  changed?: string[];
  detail?: string;
}
export interface DiffLine {
  path: string;
  before?: unknown;
  after?: unknown;
  /** A privacy rule changed it: the value before is not shown. */
  hidden?: boolean | undefined;
}
export interface Rerun {
  unavailable: 'not_retained' | 'log_unavailable' | 'too_large' | null;
  same: boolean;
  steps: readonly { changes: readonly DiffLine[] }[];
}

/** Exact lines, or those of the trace; with where their values come from. */
export function linesOf(
  steps: readonly StepRecord[],
  received: unknown,
  event: Record<string, unknown> | null,
  rerun: Rerun | undefined,
): { lines: readonly (readonly DiffLine[])[]; about?: string } {
  if (rerun?.same && rerun.steps.length === steps.length) return { lines: rerun.steps.map(({ changes }) => changes), about: EXACT };
  const lines = diffsOf(steps, received, event);
  return rerun === undefined ? { lines } : { lines, about: `${WHY[rerun.unavailable ?? 'changed']} ${INEXACT}` };
}
const EXACT =
  'To show these changes the event was run again, without being sent. The values of session, identity, visitor memory and location are the stored ones: they depend on what was known then.';
export const INEXACT =
  'The values are those of the event as received and as stored, which is not exact where two steps changed the same field.';
const WHY = {
  changed: 'Run again, the event comes out differently: the configuration was changed since.',
  not_retained: 'The event as received is no longer retained, so it cannot be run again.',
  log_unavailable: 'The event log cannot be read now, so the event cannot be run again.',
  too_large: 'The event is larger than 64 KB. Only smaller ones are run again for this view.',
};

export function diffsOf(steps: readonly StepRecord[], received: unknown, event: Record<string, unknown> | null): DiffLine[][] {
  const before = isObject(received) ? { ...received, user_id: received.userId, anonymous_id: received.anonymousId } : {};
  const claimed = steps.flatMap(({ changed = [] }) => changed);
  const lastTransformation = steps.findLastIndex(({ step, result }) => step === 'transformation' && result === 'applied');
  return steps.map(({ changed = [] }, at) => {
    if (event === null) return changed.map((path) => ({ path, before: undefined, after: undefined }));
    const lines = changed.map((path): DiffLine => {
      // A path that a later step changes again has its final value there.
      const again = steps.slice(at + 1).some((later) => later.changed?.includes(path));
      return again ? { path, before: undefined, after: undefined } : { path, before: valueAt(before, path), after: valueAt(event, path) };
    });
    // Transformations do not list their changes: a difference that belongs to no other step is theirs.
    if (at !== lastTransformation) return lines;
    const ours = ['properties', 'traits'].flatMap((root) => differences(root, valueAt(before, root), event[root]));
    return [...lines, ...ours.filter(({ path }) => !claimed.some((one) => path === one || path.startsWith(`${one}.`)))];
  });
}

function differences(path: string, before: unknown, after: unknown): DiffLine[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isObject(before ?? {}) || !isObject(after ?? {})) return [{ path, before, after }];
  const [old, next] = [(before ?? {}) as Record<string, unknown>, (after ?? {}) as Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((key) => differences(`${path}.${key}`, old[key], next[key]));
}
function valueAt(from: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), from);
}
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
