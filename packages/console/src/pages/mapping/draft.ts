/** A mapping config as the builder shows it: entries with their rows, each with its path in the config. Every change returns a new config. */
export interface MappingRow {
  target: string;
  source?: string | string[];
  value?: unknown;
  template?: string;
  transforms?: TransformUse[];
  required?: boolean;
  default?: unknown;
  value_map?: Record<string, unknown>;
  when?: unknown;
  [more: string]: unknown;
}
export type TransformUse = string | { name: string; args?: unknown[] };
export type Config = Record<string, unknown>;
export type Path = (string | number)[];
/** `enrichments` change the event before the mappings, `transforms` the payload after them. */
export type List = 'enrichments' | 'mappings' | 'transforms';
export const LISTS: readonly List[] = ['enrichments', 'mappings', 'transforms'];

export interface Section {
  kind: 'global' | 'event' | 'defaults';
  /** Of the entry: `['global']`, `['events', 'Order Completed']`, `['events', 'Order Completed', 1]`, `['defaults']`. */
  path: Path;
  /** Unlike the title it never changes while the entry is edited. */
  key: string;
  title: string;
  note: string;
  entry: Config;
}
const NO_ENTRY: Config = {};

export function sectionsOf(config: Config): Section[] {
  const at = (path: Path): Config => (valueAt(config, path) ?? NO_ENTRY) as Config;
  const sections: Section[] = [
    { kind: 'global', path: ['global'], key: 'global', title: 'Global', note: 'all mapped events', entry: at(['global']) },
  ];
  for (const [event, value] of Object.entries((config.events ?? {}) as Record<string, unknown>)) {
    const paths: Path[] = Array.isArray(value) ? value.map((_, index) => ['events', event, index]) : [['events', event]];
    for (const [index, path] of paths.entries()) {
      const entry = at(path);
      const { vendor_event_name: name, enabled } = entry as { vendor_event_name?: string; enabled?: boolean };
      const which = paths.length > 1 ? ` (${index + 1} of ${paths.length})` : '';
      sections.push({
        kind: 'event',
        path,
        key: faultPath(path),
        title: `${name === undefined ? event : `${event} → ${name}`}${which}`,
        note: enabled === false ? 'off: its events are dropped' : '',
        entry,
      });
    }
  }
  sections.push({ kind: 'defaults', path: ['defaults'], key: 'defaults', title: 'Everything else', note: '', entry: at(['defaults']) });
  return sections;
}
export function rowsOf(entry: Config, list: List = 'mappings'): MappingRow[] {
  const rows = entry[list];
  return Array.isArray(rows) ? (rows as MappingRow[]) : NO_ROWS;
}
const NO_ROWS: MappingRow[] = [];
const rowsAt = (config: Config, path: Path): MappingRow[] => {
  const rows = valueAt(config, path);
  return Array.isArray(rows) ? (rows as MappingRow[]) : NO_ROWS;
};

export function valueAt(config: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined),
    config,
  );
}
/** A copy of `config` with `next` at `path`; objects on the way are copied or made. */
export function withValue<T>(config: T, path: Path, next: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return next as T;
  const copy = (Array.isArray(config) ? [...config] : { ...(config as object) }) as Record<string | number, unknown>;
  copy[key] = withValue(copy[key] ?? (typeof rest[0] === 'number' ? [] : {}), rest, next);
  return copy as T;
}
/** A copy with `key` set, or without it where `value` is undefined. */
export function withKey<T extends object>(object: T, key: string, value: unknown): T {
  const { [key]: _before, ...rest } = object as Record<string, unknown>;
  return (value === undefined ? rest : { ...object, [key]: value }) as T;
}

export const setRow = (config: Config, path: Path, at: number, row: MappingRow): Config => withValue(config, [...path, at], row);
export const addRow = (config: Config, path: Path): Config =>
  withValue(config, path, [
    ...rowsAt(config, path),
    path.at(-1) === 'transforms' ? { target: '', transforms: [] } : { source: '', target: '' },
  ]);
export function removeRow(config: Config, path: Path, at: number): Config {
  return withValue(config, path, rowsAt(config, path).toSpliced(at, 1));
}
export function moveRow(config: Config, path: Path, at: number, by: number): Config {
  const rows = [...rowsAt(config, path)];
  const to = at + by;
  if (to < 0 || to >= rows.length) return config;
  const [moved] = rows.splice(at, 1);
  if (moved !== undefined) rows.splice(to, 0, moved);
  return withValue(config, path, rows);
}

/** An event that is mapped already keeps its mapping. */
export const addEvent = (config: Config, event: string): Config =>
  Object.hasOwn((config.events ?? {}) as object, event) ? config : withValue(config, ['events', event], { mappings: [] });
/** Another entry of the event, behind the one at `path`. The first one whose filter passes is used. */
export function addAlternative(config: Config, path: Path): Config {
  const [, event, index = 0] = path as [string, string, number?];
  const before = valueAt(config, ['events', event]);
  const entries: unknown[] = Array.isArray(before) ? before : [before];
  return withValue(config, ['events', event], entries.toSpliced(index + 1, 0, { mappings: [] }));
}
export function moveAlternative(config: Config, [, event, index]: Path, by: number): Config {
  const entries = valueAt(config, ['events', event as string]);
  if (!Array.isArray(entries) || typeof index !== 'number') return config;
  const to = index + by;
  if (to < 0 || to >= entries.length) return config;
  const moved: unknown = entries[index];
  return withValue(config, ['events', event as string], entries.toSpliced(index, 1).toSpliced(to, 0, moved));
}
/** `path` names an entry of the event where it has several: the others stay. */
export function removeEntry(config: Config, path: Path): Config {
  const [, event, entry] = path;
  const { [String(event)]: section, ...rest } = (config.events ?? {}) as Record<string, unknown>;
  const others = Array.isArray(section) && typeof entry === 'number' ? section.toSpliced(entry, 1) : [];
  return { ...config, events: others.length === 0 ? rest : { ...rest, [String(event)]: others } };
}

/** The config with the rows of one event only, for a quick preview of that event. */
export function onlyEvent(config: Config, event: string): Config {
  const events = (config.events ?? {}) as Record<string, unknown>;
  return Object.hasOwn(events, event) ? { ...config, events: { [event]: events[event] } } : { ...config, events: {} };
}

/** The path as the compiler writes it in faults: `events.Order Completed.mappings[3]`. */
export function faultPath(path: Path): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '');
}
export const isWithin = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);
/** Faults at a place or anywhere inside it. */
export function faultsAt<F extends { field: string }>(faults: readonly F[], path: Path): F[] {
  const at = faultPath(path);
  return faults.filter(({ field }) => isWithin(field, at));
}
