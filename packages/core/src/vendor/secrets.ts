/** Which parts of a config are secret, and how a request is shown without them. */
import { isObject, own } from '../json.ts';
import { MAPPING_KEYS } from '../mapping/mapping.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import type { VendorRequest } from './compiled.ts';
import type { VendorDefinition } from './definition.ts';

/** Secret under these names wherever they stand, whatever the vendor. */
const SECRET_NAMES = new Set([
  'auth_token',
  'auth_password',
  'hmac_secret',
  'signing_secret',
  'client_secret',
  'refresh_token',
  'access_token',
  'secret_access_key',
  'session_token',
  'private_key',
  'password',
  'secret',
  'token',
  'api_key',
]);
const TELLING_NAME = /authorization|token|key|secret/i;

export type SecretPath = string[];

/** Paths of every secret string that is there, as key lists; list positions are digits. */
export function secretPaths(definition: VendorDefinition | undefined, config: unknown): SecretPath[] {
  const found: SecretPath[] = [];
  if (!isObject(config)) return found;
  const fields = new Set(definition?.config_fields.filter(({ type }) => type === 'secret').map(({ key }) => key));
  for (const key of Object.keys(config)) {
    if (SHOWN.has(key)) continue;
    visit(config[key], [key], fields, found);
  }
  return found;
}

/** The mapping is shown and diffed as it is; credentials have no business in it. */
const SHOWN: ReadonlySet<string> = new Set(MAPPING_KEYS);

function visit(value: unknown, path: SecretPath, fields: ReadonlySet<string>, found: SecretPath[]): void {
  const name = path.at(-1) as string;
  if (typeof value === 'string') {
    const configField = path.length === 1 || (path.length === 2 && path[0] === 'parameters');
    const secret =
      (configField && fields.has(name)) ||
      SECRET_NAMES.has(name) ||
      inNamedPairs(path) ||
      inAuthValue(path) ||
      inFreeParameters(path, fields);
    if (secret && value !== '') found.push(path);
    // Headers may be written as the JSON text of an object; one telling name makes the whole text a secret.
    else if (name === 'headers' && TELLING_NAME.test(value)) found.push(path);
  } else if (Array.isArray(value)) {
    value.forEach((element, index) => {
      visit(element, [...path, String(index)], fields, found);
    });
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) visit(value[key], [...path, key], fields, found);
  }
}

/** Headers, and the query of an authored request: `?apikey=` is a credential like any other. */
function inNamedPairs(path: SecretPath): boolean {
  const of = path.at(-2);
  return (of === 'headers' || of === 'query') && TELLING_NAME.test(path.at(-1) as string);
}

/** `auth: {kind: header|query, name, value}` of an authored request. */
function inAuthValue(path: SecretPath): boolean {
  return path.at(-1) === 'value' && path.at(-2) === 'auth';
}

/** Custom HTTP users name their own parameters. */
function inFreeParameters(path: SecretPath, fields: ReadonlySet<string>): boolean {
  return (
    path.length === 2 &&
    path[0] === 'parameters' &&
    !fields.has(path[1] as string) &&
    /token|key|secret|password|authorization/i.test(path[1] as string)
  );
}

export function valueAt(config: unknown, path: readonly string[]): unknown {
  let value = config;
  for (const step of path) value = Array.isArray(value) ? value[Number(step)] : isObject(value) ? own(value, step) : undefined;
  return value;
}

/** `••••` and the last four characters; none of a secret shorter than 12. */
export function maskSecret(secret: string): string {
  return secret.length < 12 ? '••••' : `••••${secret.slice(-4)}`;
}

/** Secret values of a config, longest first, so that one inside another does not spoil it. Placeholders and very short texts are no secrets. */
export function secretValues(definition: VendorDefinition | undefined, config: unknown): string[] {
  const values = new Set<string>();
  for (const path of secretPaths(definition, config)) {
    const value = valueAt(config, path);
    if (typeof value === 'string' && value.length >= 4 && !hasPlaceholder(value)) values.add(value);
  }
  return [...values].sort((a, b) => b.length - a.length);
}

/** A function that takes secrets out of a text, in the forms they have in URLs and JSON too. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const forms: [string, string][] = [];
  for (const secret of secrets) {
    const mask = maskSecret(secret);
    const variants = new Set([secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]);
    for (const variant of variants) forms.push([variant, mask]);
  }
  return (text) => {
    let out = text;
    for (const [form, mask] of forms) if (out.includes(form)) out = out.replaceAll(form, mask);
    return out;
  };
}

const HIDDEN_HEADER = /authorization|token|key|secret/i;

/** A request as preview and traces may show it. */
export function maskRequest(request: VendorRequest, definition: VendorDefinition | undefined, config: unknown): VendorRequest {
  const scrub = scrubber(secretValues(definition, config));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = HIDDEN_HEADER.test(name) ? maskHeader(value) : scrub(value);
  const masked: VendorRequest = { ...request, url: scrub(request.url), headers };
  if (typeof request.body === 'string') masked.body = scrub(request.body);
  else if (request.body) masked.body = scrub(decoder.decode(request.body));
  return masked;
}

const decoder = new TextDecoder();

/** The scheme stays readable: `Bearer ••••abcd`. */
function maskHeader(value: string): string {
  const scheme = /^(Bearer|Basic|AWS4-HMAC-SHA256) /.exec(value)?.[0] ?? '';
  return scheme + maskSecret(value.slice(scheme.length));
}
