import { isConflict } from './components/conflict.tsx';
import { isSameJson } from './components/loose-value.ts';

interface Part<T> {
  /** The version that the form started from. */
  base: T;
  part: (version: T) => unknown;
  put: (updatedAt: string) => Promise<T>;
  read: () => Promise<T>;
}
export type SavedPart<T> = { kind: 'saved'; stored: T } | { kind: 'conflict'; theirs: T };

/** Saves the edited part of `base`. Another user's change of the same part is a conflict; a change of another part is not. */
export async function savePart<T extends { updated_at: string }>({ base, part, put, read }: Part<T>): Promise<SavedPart<T>> {
  try {
    return { kind: 'saved', stored: await put(base.updated_at) };
  } catch (error) {
    if (!isConflict(error)) throw error;
    const theirs = await read();
    if (theirs.updated_at === base.updated_at) throw error;
    if (!isSameJson(part(theirs), part(base))) return { kind: 'conflict', theirs };
    return { kind: 'saved', stored: await put(theirs.updated_at) };
  }
}
