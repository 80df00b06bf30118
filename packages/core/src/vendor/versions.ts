/** API versions and client certificates that end: warnings for customers, and a check for our own defaults. */
import type { ClientCertificate } from './compiled.ts';
import type { ApiVersion, VendorDefinition } from './definition.ts';

const DAY_MS = 86_400_000;
const WARNED_DAYS = 60;

/** A warning from 60 days before the version in use ends. */
export function versionWarnings(api: ApiVersion, values: Record<string, unknown>, now: number): string[] {
  const chosen = api.field === undefined ? undefined : values[api.field];
  const version = typeof chosen === 'string' && chosen !== '' ? chosen : api.version;
  const end = endOf(api, version);
  if (end === undefined) return [];
  const day = new Date(end).toISOString().slice(0, 10);
  const change = api.field === undefined ? 'Update Firsthand.' : `Set ${api.field} to a newer version.`;
  if (now >= end + DAY_MS) return [`The vendor’s API version ${version} ended on ${day}. ${change}`];
  return now >= end - WARNED_DAYS * DAY_MS ? [`The vendor’s API version ${version} ends on ${day}. ${change}`] : [];
}

const CERTIFICATE_WARNED_DAYS = 30;

/** A warning from 30 days before a client certificate expires. */
export function certificateWarnings(certificates: readonly ClientCertificate[], now: number): string[] {
  const ends = new Set(certificates.map(({ valid_to }) => valid_to).filter((end) => end !== undefined));
  return [...ends].flatMap((end) => {
    const day = new Date(end).toISOString().slice(0, 10);
    if (now > end) return [`The client certificate expired on ${day}. Enter a new one.`];
    return now >= end - CERTIFICATE_WARNED_DAYS * DAY_MS ? [`The client certificate expires on ${day}. Enter a new one.`] : [];
  });
}

/** Vendors whose default version has ended. `npm run check` fails on them. */
export function endedDefault({ api_version: api }: VendorDefinition, now: number): string | undefined {
  const end = api && endOf(api, api.version);
  return api && end !== undefined && now >= end + DAY_MS ? `API version ${api.version} ended on ${api.ends?.[api.version]}` : undefined;
}

/** Start of the last day. */
function endOf({ ends }: ApiVersion, version: string): number | undefined {
  const day = ends && Object.hasOwn(ends, version) ? ends[version] : undefined;
  const ms = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
