/** What a variant's configuration says about events, for people. */
export interface Mapping {
  target: string;
  source?: string | string[];
  value?: unknown;
  template?: string;
  transforms?: (string | { name: string })[];
  required?: boolean;
}
interface EventEntry {
  vendor_event_name?: string;
  mappings?: Mapping[];
}
export interface VariantConfig {
  global?: { mappings?: Mapping[] };
  defaults?: { action?: string; mappings?: Mapping[] };
  events?: Record<string, EventEntry | EventEntry[]>;
}

export function mappedEvents({ events = {} }: VariantConfig): { event: string; vendorEvent: string; mappings: Mapping[] }[] {
  return Object.entries(events).flatMap(([event, entries]) =>
    (Array.isArray(entries) ? entries : [entries]).map((entry) => ({
      event,
      vendorEvent: entry.vendor_event_name ?? event,
      mappings: entry.mappings ?? [],
    })),
  );
}
/** What happens to events without an entry of their own. Only vendors that pass events through need not say it. */
export function restText({ defaults }: VariantConfig): string {
  if (defaults?.action === 'map') return 'is sent under its own name';
  return defaults?.action === 'drop' ? 'is dropped' : 'is delivered as it is';
}
/** Where a row's value comes from. */
export function sourceText({ source, value, template }: Mapping): string {
  if (source !== undefined) return Array.isArray(source) ? source.join(' or ') : source;
  return template ?? `= ${JSON.stringify(value)}`;
}
export const transformNames = ({ transforms = [] }: Mapping): string[] =>
  transforms.map((one) => (typeof one === 'string' ? one : one.name));
