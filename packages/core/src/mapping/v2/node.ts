import type { Getter, Roots, Segment } from '../../path/path.ts';
import type { Steps } from '../../steps.ts';
import type { Field, RunState } from '../field.ts';
import type { Read } from './leaf.ts';

export interface Placed {
  field: Field;
  /** The rest of the target path from this node. */
  target: readonly Segment[];
  /** The sources relative to the current element. Undefined if they are relative to the event. */
  paths: readonly (readonly Segment[])[] | undefined;
}
export interface TreeContext {
  roots: Roots;
  state: RunState;
  /** Inside a `[*]` target: holes are kept for alignment, and `required` is checked for the list as a whole. */
  in_list: boolean;
  /** Whether this node may be laid over another value. If not, no overlay closures are kept. */
  laid_over: boolean;
  /** Cache of field reads that start from the event. Entries share the reads of global fields. */
  reads: Map<Field, Read>;
  /** Getters of the objects whose keys are copied, by their path. */
  parents: Map<string, Getter>;
  conflict(field: Field): void;
  /** How much was compiled since the last yield. */
  step: { parts: number };
  /** Passed along so that the modules of the different node kinds need not import each other. */
  compile(placed: readonly Placed[], context: TreeContext): Steps<TreeNode>;
}
/** One key, copied unchanged. Nodes with the same parent have the same getter, so that it is read once for all of them. */
export interface PlainNode {
  key: string;
  parent: Getter;
  /** The key belongs to `base` itself. */
  direct: boolean;
}
export type Overlay = (under: unknown, event: unknown, base: unknown) => unknown;
/** Undefined where nothing is written, or where the quota is spent. */
export type InSteps = (under: unknown, event: unknown, base: unknown) => Steps<unknown>;
export interface TreeNode {
  build: Read;
  /** Lays this node over another mapping's value (undefined if there is none). Only usable if the context has `laid_over`. */
  overlay: Overlay;
  plain?: PlainNode | undefined;
  /** `build` (with nothing under it) or `overlay`, divided. Only objects and lists have it, and none inside a list. */
  inSteps?: InSteps | undefined;
}

export const NEVER_LAID: Overlay = (under) => under;
