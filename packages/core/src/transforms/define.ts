/** What every transform says about itself: the list, the documentation, the console's picker and the tests all read this. */
export interface TransformArg {
  name: string;
  type: 'string' | 'number' | 'boolean';
  summary: string;
  /** An argument without a default must be given. */
  default?: string | number | boolean;
  /** The last argument may be given any number of times. */
  rest?: boolean;
}

/** Input, expected output, then the arguments. */
export type TransformExample = readonly [input: unknown, output: unknown, ...args: unknown[]];
export type Apply = (value: unknown, args: readonly unknown[]) => unknown;

export interface Transform {
  name: string;
  summary: string;
  args: readonly TransformArg[];
  /** `value`: of a list, each element is transformed. `list`: a list is taken as a whole. */
  takes: 'value' | 'list';
  examples: readonly TransformExample[];
  /** Never sees null or undefined, never throws; `undefined` means that there is no such value. */
  apply: Apply;
  /** What can be worked out once from arguments that are written in the configuration, or why they are wrong. */
  prepare?(args: readonly unknown[]): { ok: true; apply(value: unknown): unknown } | { ok: false; message: string };
}

type Definition = Omit<Transform, 'args' | 'takes'> & Partial<Pick<Transform, 'args' | 'takes'>>;

export function defineTransform(definition: Definition): Transform {
  return { args: [], takes: 'value', ...definition };
}
