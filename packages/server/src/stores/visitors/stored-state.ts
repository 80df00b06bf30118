import type { VisitorState } from './port.ts';

/** Told of a stored visitor that cannot be read. */
export type OnUnreadable = (error: unknown) => void;

/** As stored: both come from the same writer. */
export function isState(stored: VisitorState | undefined, expected: VisitorState): boolean {
  return JSON.stringify(stored ?? {}) === JSON.stringify(expected);
}

/**
 * A damaged visitor counts as unknown: the next event starts anew. Reading it again would fail for ever, and with it every event of its
 * organisation in the partition.
 */
export function storedState(json: Buffer, onUnreadable: OnUnreadable): VisitorState | undefined {
  try {
    return JSON.parse(json.toString('utf8')) as VisitorState;
  } catch (error) {
    onUnreadable(error);
    return undefined;
  }
}
