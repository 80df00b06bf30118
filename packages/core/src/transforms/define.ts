import type { Cost } from '../value-size.ts';

/** Description of a transform. The list, the documentation, the console's picker and the tests all read it. */
export interface TransformArg {
  name: string;
  type: 'string' | 'number' | 'boolean';
  summary: string;
  /** An argument without a default is required. */
  default?: string | number | boolean;
  /** The last argument may be repeated. */
  rest?: boolean;
}

/** Input, expected output, then the arguments. */
export type TransformExample = readonly [input: unknown, output: unknown, ...args: unknown[]];
export type Apply = (value: unknown, args: readonly unknown[]) => unknown;

export interface Transform {
  name: string;
  summary: string;
  args: readonly TransformArg[];
  /** `value`: a list is transformed element by element. `list`: a list is passed as a whole. */
  takes: 'value' | 'list';
  /** The result may be longer than the input: one above the limit of `bounded` is missing. */
  grows?: true;
  /** What it takes of an event's quota; most transforms cost the same. */
  cost: Cost;
  examples: readonly TransformExample[];
  /** Never receives null or undefined and never throws. `undefined` means that there is no such value. */
  apply: Apply;
  /** Precomputes what depends only on constant arguments, or returns why they are wrong. */
  prepare?(args: readonly unknown[]): { ok: true; apply(value: unknown): unknown } | { ok: false; message: string };
}

type Definition = Omit<Transform, 'args' | 'takes' | 'cost'> & Partial<Pick<Transform, 'args' | 'takes'>> & { cost?: Partial<Cost> };
const USUAL: Cost = { value: 80, character: 1 };

export function defineTransform(definition: Definition): Transform {
  return { args: [], takes: 'value', ...definition, cost: { ...USUAL, ...definition.cost } };
}
