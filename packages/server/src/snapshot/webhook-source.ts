/** Inbound webhook sources: validated for the management API, compiled for ingest. */

import { findSource } from '@firsthand/catalog/sources/index.ts';
import { CONSENT_CATEGORY_PATTERN } from '@firsthand/core/config/consent-category.ts';
import type { WebhookProvider, WebhookSource, WebhookSourceType } from '@firsthand/core/config/resources.ts';
import { compileMapping, type WebhookMapper } from '@firsthand/core/inbound/map-webhook.ts';
import { isObject } from '@firsthand/core/json.ts';
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import { checkConnection } from './source-connection.ts';
import { type Verifier, verifierOf } from './webhook-signature.ts';

export interface CompiledWebhookSource {
  /** With the signing secret in the clear: never log this. */
  source: WebhookSource;
  verify: Verifier;
  map: WebhookMapper;
}
export type WebhookSourceResult =
  | { ok: true; source: CompiledWebhookSource; faults: [] }
  | { ok: false; source: undefined; faults: ConfigFault[] };

export const PROVIDERS: Readonly<Record<WebhookSourceType, WebhookProvider>> = {
  payment_processor: 'stripe',
  ecommerce_platform: 'shopify',
  crm: 'hubspot',
  form_service: 'typeform',
  messaging_service: 'intercom',
  custom: 'custom',
};
/** Presets that share the source type `custom`, selected by `provider`. */
const FURTHER_PROVIDERS: readonly WebhookProvider[] = ['github', 'svix'];
const ALL_PROVIDERS: readonly WebhookProvider[] = [...Object.values(PROVIDERS), ...FURTHER_PROVIDERS];
const TIMESTAMP_FORMATS = ['unix_seconds', 'unix_millis', 'iso8601'];
const SIGNATURE_METHODS = ['hmac_sha256', 'standard_webhooks', 'shared_secret', 'none'];
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;
const CATEGORY = new RegExp(CONSENT_CATEGORY_PATTERN);
const MAX_ENTRIES = 500;

export function compileWebhookSource(source: WebhookSource): WebhookSourceResult {
  const { map, faults } = compileMapping(findSource(source.provider), source);
  if (faults.length > 0) return { ok: false, source: undefined, faults };
  // The broker decides who may write to it. Its messages carry no signature.
  const verify = source.kind === 'webhook' ? verifierOf(source) : () => undefined;
  return { ok: true, source: { source, verify, map }, faults: [] };
}

/** Validates a source from the management API, complete or partial. Absent fields are not a fault here. */
export function validateWebhookSource(body: Record<string, unknown>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const fault = (field: string, message: string) => faults.push({ field, message });
  const { source_type, provider, timestamp_format, signature_method, signature_header, signing_secret } = body;
  if (given(source_type) && !Object.hasOwn(PROVIDERS, String(source_type)))
    fault('source_type', `must be one of ${Object.keys(PROVIDERS).join(', ')}`);
  if (given(provider) && !ALL_PROVIDERS.includes(provider as WebhookProvider))
    fault('provider', `must be one of ${ALL_PROVIDERS.join(', ')}`);
  if (given(timestamp_format) && !TIMESTAMP_FORMATS.includes(String(timestamp_format)))
    fault('timestamp_format', `must be one of ${TIMESTAMP_FORMATS.join(', ')}`);
  if (given(signature_method) && !SIGNATURE_METHODS.includes(String(signature_method)))
    fault('signature_method', `must be one of ${SIGNATURE_METHODS.join(', ')}`);
  if (given(signature_header) && !(typeof signature_header === 'string' && HEADER_NAME.test(signature_header)))
    fault('signature_header', 'must be the name of a header');
  if ((signature_method === 'hmac_sha256' || signature_method === 'shared_secret') && !given(signature_header) && isCustom(body))
    fault('signature_header', `is required with the signature method ${signature_method}`);
  if (given(signing_secret) && !(typeof signing_secret === 'string' && signing_secret.length >= 1 && signing_secret.length <= 1_000))
    fault('signing_secret', 'must be 1 to 1000 characters');
  checkConsent(body.default_consent, fault);
  checkConnection(body, fault);
  const mappings = stringMap(body.mappings, 'mappings', fault);
  const names = stringMap(body.event_name_map, 'event_name_map', fault);
  const typePath = stringOrNull(body.event_type_path, 'event_type_path', fault);
  const timePath = stringOrNull(body.timestamp_path, 'timestamp_path', fault);
  const compiled = compileMapping(findSource('custom'), {
    source_type: 'custom',
    event_type_path: typePath,
    mappings,
    event_name_map: names,
    timestamp_path: timePath,
    timestamp_format: null,
    default_consent: null,
  });
  return [...faults, ...compiled.faults];
}

type Report = (field: string, message: string) => void;

function isCustom({ provider, source_type }: Record<string, unknown>): boolean {
  return provider === 'custom' || (!given(provider) && source_type === 'custom');
}
function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}
function checkConsent(value: unknown, fault: Report): void {
  if (!given(value)) return;
  if (!isObject(value)) fault('default_consent', 'must be an object of categories, or null');
  else
    for (const [category, granted] of Object.entries(value).slice(0, MAX_ENTRIES))
      if (!CATEGORY.test(category)) fault(`default_consent.${category}`, 'is not a category: use lower-case letters, digits, _ and -');
      else if (typeof granted !== 'boolean') fault(`default_consent.${category}`, 'must be true or false');
}
function stringMap(value: unknown, field: string, fault: Report): Record<string, string> {
  if (!given(value)) return {};
  if (!isObject(value)) {
    fault(field, 'must be an object of strings');
    return {};
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_ENTRIES) fault(field, `must have at most ${MAX_ENTRIES} entries`);
  const strings = entries.slice(0, MAX_ENTRIES).filter((entry): entry is [string, string] => {
    if (typeof entry[1] === 'string') return true;
    fault(`${field}.${entry[0]}`, 'must be a string');
    return false;
  });
  return Object.fromEntries(strings);
}
function stringOrNull(value: unknown, field: string, fault: Report): string | null {
  if (!given(value)) return null;
  if (typeof value === 'string') return value;
  fault(field, 'must be a string or null');
  return null;
}
