/** The `integrations` object of Segment's specification: the integrations an event may go to. */
import { isObject, own } from '../json.ts';

const MAX_ENTRIES = 200;

/** `false` stays false; `true` and an options object both become true. */
export function integrationSettings(value: unknown): Record<string, boolean> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([name, setting]) => [name, setting !== false]));
}

/** The settings of an event over those of its batch. Undefined if nothing is switched off. */
export function readIntegrations(value: unknown, ofBatch?: Record<string, boolean>): Record<string, boolean> | undefined {
  const ofEvent = integrationSettings(value);
  // The event's names come first: they also win over the same name in another case.
  const settings = ofBatch === undefined ? ofEvent : { ...ofEvent, ...ofBatch, ...ofEvent };
  return settings !== undefined && Object.values(settings).includes(false) ? settings : undefined;
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
