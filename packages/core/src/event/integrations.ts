/** The `integrations` object of Segment's specification: the integrations an event may go to. */
import { isObject, own } from '../json.ts';

const MAX_ENTRIES = 200;

/** `false` stays false; `true` and an options object both become true. Undefined if nothing is switched off. */
export function readIntegrations(value: unknown): Record<string, boolean> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  if (entries.every(([, setting]) => setting !== false)) return undefined;
  return Object.fromEntries(entries.map(([name, setting]) => [name, setting !== false]));
}

/** The most specific entry wins: integration id, vendor key, vendor name, then `All`. Names are case-insensitive. */
export function allowsIntegration(
  integrations: Readonly<Record<string, boolean>> | undefined,
  integration: { id: string; vendor: string; vendor_name: string | undefined },
): boolean {
  if (integrations === undefined) return true;
  const { id, vendor, vendor_name } = integration;
  const byName = (name: string | undefined) => {
    const found = name === undefined ? undefined : Object.keys(integrations).find((key) => key.toLowerCase() === name.toLowerCase());
    return found === undefined ? undefined : integrations[found];
  };
  const decided = own(integrations, id) ?? byName(vendor) ?? byName(vendor_name) ?? byName('All');
  return decided !== false;
}
