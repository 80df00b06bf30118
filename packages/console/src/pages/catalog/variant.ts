/** What a variant's configuration says about events, for people. */
interface EventEntry {
  vendor_event_name?: string;
  mappings?: { target: string }[];
}
export interface VariantConfig {
  events?: Record<string, EventEntry | EventEntry[]>;
}

export function mappedEvents({ events = {} }: VariantConfig): { event: string; vendorEvent: string; targets: string[] }[] {
  return Object.entries(events).flatMap(([event, entries]) =>
    (Array.isArray(entries) ? entries : [entries]).map((entry) => ({
      event,
      vendorEvent: entry.vendor_event_name ?? event,
      targets: [...new Set((entry.mappings ?? []).map(({ target }) => target))],
    })),
  );
}
