/** What is wrong with the form as it is, and what the API refused of the last save: by field, for example `pii_rules.fields[0].path`. */
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { validateDataLayer } from '@firsthand/core/process/compiled.ts';
import { isSameJson } from '../../components/loose-value.ts';

export type Faults = Readonly<Record<string, string>>;
/** Where faults stand that concern no section: the service is away, or the request as a whole was refused. */
export const WHOLE = '';

export const sectionOf = (field: string): string => /^\w+/.exec(field)?.[0] ?? WHOLE;
export const isIn = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

/**
 * The compiler of the service says what is still wrong, in the API's words. What only the service can know (the syntax of code) stays until its
 * section is changed.
 */
export function currentFaults(refused: Faults, sent: DataLayerConfig, now: DataLayerConfig): Faults {
  const section = (config: DataLayerConfig, field: string): unknown => config[sectionOf(field) as keyof DataLayerConfig];
  const kept = Object.entries(refused).filter(([field]) => isSameJson(section(sent, field), section(now, field)));
  const found = validateDataLayer(now).map(({ field, message }): [string, string] => [
    field,
    `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
  ]);
  return Object.fromEntries([...kept, ...found]);
}

/** Messages at a field or inside it. Entries of a list are named by their text. */
export function messageAt(faults: Faults, path: string, entries?: readonly unknown[]): string | undefined {
  const own = Object.entries(faults).filter(([field]) => isIn(field, path));
  if (own.length === 0) return undefined;
  return own
    .map(([field, message]) => {
      const index = /^\[(\d+)\]/.exec(field.slice(path.length))?.[1];
      return entries === undefined || index === undefined ? message : `${String(entries[Number(index)])}: ${message}`;
    })
    .join(' ');
}
