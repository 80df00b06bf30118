import type { Parser } from './parsers.ts';

/** The text of another variable, or undefined when it is unset. */
type Lookup = (variable: string) => string | undefined;

/** Written as a user would write it, and read by the same parser. `from` is for a default that depends on another variable. */
type Default = string | { from: (value: Lookup) => string; shown: string };

export interface Setting<T> {
  variable: string;
  meaning: string;
  parser: Parser<NonNullable<T>>;
  default: Default | undefined;
  /** Shown instead of a default where the service chooses the value itself. */
  unset?: string;
  /** The value never appears in an error message. */
  secret?: true;
}

type Described<T> = Omit<Setting<T>, 'default'>;
export const setting = <T>(described: Described<T> & { default: Default }): Setting<T> => described;
export const optional = <T>(described: Described<T>): Setting<T | undefined> => ({ ...described, default: undefined });
