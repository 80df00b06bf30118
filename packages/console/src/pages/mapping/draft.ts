/** A mapping config as the builder shows it: sections of rows, each row with its path in the config. Every change returns a new config. */
export interface MappingRow {
  target: string;
  source?: string | string[];
  value?: unknown;
  template?: string;
  transforms?: (string | { name: string; args?: unknown[] })[];
  required?: boolean;
  default?: unknown;
  [more: string]: unknown;
}
export type Config = Record<string, unknown>;
export type Path = (string | number)[];
export interface Section {
  /** Where the rows are: `['global', 'mappings']`, `['events', 'Order Completed', 'mappings']` … */
  path: Path;
  title: string;
  note: string;
  rows: MappingRow[];
}

export function sectionsOf(config: Config): Section[] {
  const sections: Section[] = [
    { path: ['global', 'mappings'], title: 'Global', note: 'all events', rows: rowsAt(config, ['global', 'mappings']) },
  ];
  for (const [event, value] of Object.entries((config.events ?? {}) as Record<string, unknown>)) {
    const entries = Array.isArray(value)
      ? value.map((entry, at) => [['events', event, at] as Path, entry] as const)
      : [[['events', event] as Path, value] as const];
    for (const [path, entry] of entries) {
      const { vendor_event_name, enabled } = (entry ?? {}) as { vendor_event_name?: string; enabled?: boolean };
      const title = vendor_event_name === undefined ? event : `${event} → ${vendor_event_name}`;
      sections.push({
        path: [...path, 'mappings'],
        title,
        note: enabled === false ? 'disabled' : '',
        rows: rowsAt(config, [...path, 'mappings']),
      });
    }
  }
  return sections;
}
function rowsAt(config: Config, path: Path): MappingRow[] {
  const rows = valueAt(config, path);
  return Array.isArray(rows) ? (rows as MappingRow[]) : [];
}
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

export const setRow = (config: Config, path: Path, at: number, row: MappingRow): Config => withValue(config, [...path, at], row);
export const addRow = (config: Config, path: Path): Config =>
  withValue(config, path, [...rowsAt(config, path), { source: '', target: '' }]);
export function removeRow(config: Config, path: Path, at: number): Config {
  return withValue(
    config,
    path,
    rowsAt(config, path).filter((_, index) => index !== at),
  );
}
export function moveRow(config: Config, path: Path, at: number, by: number): Config {
  const rows = [...rowsAt(config, path)];
  const to = at + by;
  if (to < 0 || to >= rows.length) return config;
  const [moved] = rows.splice(at, 1);
  if (moved !== undefined) rows.splice(to, 0, moved);
  return withValue(config, path, rows);
}
/** What was typed over a fixed value: a number, a boolean or an object stays one as long as the text is JSON. */
export function typedLike(before: unknown, text: string): unknown {
  if (typeof before === 'string') return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
}
/** An event that is mapped already keeps its mapping. */
export const addEvent = (config: Config, event: string): Config =>
  Object.hasOwn((config.events ?? {}) as object, event) ? config : withValue(config, ['events', event], { mappings: [] });
/** `path` names an entry of the event where it has several: the others stay. */
export function removeSection(config: Config, path: Path): Config {
  const [, event, entry] = path;
  const { [String(event)]: section, ...rest } = (config.events ?? {}) as Record<string, unknown>;
  const others = Array.isArray(section) && typeof entry === 'number' ? section.filter((_, index) => index !== entry) : [];
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
/** Faults of one row: at the row itself or anywhere inside it. */
export function faultsAt(faults: readonly { field: string; message: string }[], path: Path): { field: string; message: string }[] {
  const at = faultPath(path);
  return faults.filter(({ field }) => field === at || field.startsWith(`${at}.`) || field.startsWith(`${at}[`));
}

/** What differs between two configs, as paths of rows and settings: a number to show and a list to read. */
export function differences(before: unknown, after: unknown, path: Path = []): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const isPlain = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isPlain(before) && isPlain(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      differences(before[key], after[key], [...path, key]),
    );
  return [faultPath(path)];
}
