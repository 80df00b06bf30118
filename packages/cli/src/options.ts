import { parseArgs } from 'node:util';
import { CommandError } from './failure.ts';

/** `--name value` for each name; unknown ones are refused, empty ones count as missing. */
export function readOptions<const Required extends string, const Optional extends string = never>(
  args: string[],
  names: { required: readonly Required[]; optional?: readonly Optional[] },
): Record<Required, string> & Partial<Record<Optional, string>> {
  const all = [...names.required, ...(names.optional ?? [])];
  const { values } = parseArgs({ args, strict: true, options: Object.fromEntries(all.map((name) => [name, { type: 'string' as const }])) });
  const missing = names.required.filter((name) => typeof values[name] !== 'string' || values[name].trim() === '');
  if (missing.length > 0) throw new CommandError(`Missing: ${missing.map((name) => `--${name}`).join(', ')}`);
  return values as Record<Required, string> & Partial<Record<Optional, string>>;
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
