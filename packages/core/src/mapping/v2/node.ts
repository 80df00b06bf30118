import type { Roots, Segment } from '../../path/path.ts';
import type { Field, RunState } from '../field.ts';
import type { Read } from './leaf.ts';

export interface Placed {
  field: Field;
  /** What is left of the target from this node on. */
  target: readonly Segment[];
  /** The sources as seen from the element under way, where that is not the event. */
  paths: readonly (readonly Segment[])[] | undefined;
}
export interface TreeContext {
  roots: Roots;
  state: RunState;
  /** Inside a `[*]` target: holes are kept for alignment, and what is required is checked for the list as a whole. */
  in_list: boolean;
  /** Whether this node may be laid over a value; where it never is, nothing is kept for that. */
  laid_over: boolean;
  /** Reads of fields that start from the event: global ones are the same for every entry. */
  reads: Map<Field, Read>;
  conflict(field: Field): void;
  /** Nodes nest in one another; handed along so that the files of their kinds need not import each other. */
  compile(placed: readonly Placed[], context: TreeContext): TreeNode;
}
export type Overlay = (under: unknown, event: unknown, base: unknown) => unknown;
export interface TreeNode {
  build: Read;
  /** Lays this node over a value that another mapping gave (undefined: there was none). Only where the context asked for it. */
  overlay: Overlay;
  plain?: string | undefined;
}

export const NEVER_LAID: Overlay = (under) => under;
