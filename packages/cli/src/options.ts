import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError, UsageError } from './failure.ts';

type Options<Required extends string, Optional extends string, Flag extends string> = Record<Required, string> &
  Partial<Record<Optional, string>> &
  Record<Flag, boolean>;

/**
 * Parses `--name value` for required and optional names, and `--name` for flags. Unknown names are rejected; an empty value counts as
 * missing.
 */
export function readOptions<const Required extends string, const Optional extends string = never, const Flag extends string = never>(
  args: string[],
  names: { required: readonly Required[]; optional?: readonly Optional[]; flags?: readonly Flag[] },
): Options<Required, Optional, Flag> {
  const flags = names.flags ?? [];
  const values = parse(args, {
    ...Object.fromEntries([...names.required, ...(names.optional ?? [])].map((name) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(flags.map((name) => [name, { type: 'boolean' as const, default: false }])),
  });
  const missing = names.required.filter((name) => typeof values[name] !== 'string' || values[name].trim() === '');
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.map((name) => `--${name}`).join(', ')}`);
  return values as Options<Required, Optional, Flag>;
}

function parse(args: string[], options: NonNullable<ParseArgsConfig['options']>): Record<string, unknown> {
  try {
    return parseArgs({ args, strict: true, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MIN_PASSWORD = 12;

export function requireEmail(option: string, email: string): string {
  if (!EMAIL.test(email.trim()) || email.length > 254) throw new CommandError(`${option}: must be an e-mail address.`);
  return email;
}
export function requirePassword(option: string, password: string): string {
  if (password.length < MIN_PASSWORD || password.length > 1_000)
    throw new CommandError(`${option}: must be ${MIN_PASSWORD} characters or more.`);
  return password;
}
