/** Finds the secrets in a config, and masks them in requests that are shown. */
import { isObject, type Json, own } from '../json.ts';
import { MAPPING_KEYS } from '../mapping/mapping.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import { fromBase64 } from './bytes.ts';
import type { VendorRequest } from './compiled.ts';
import type { VendorDefinition } from './definition.ts';

/** Values under these names are secret at any depth, for every vendor. */
const SECRET_NAMES = new Set([
  'auth_token',
  'auth_password',
  'hmac_secret',
  'signing_secret',
  'client_secret',
  'consumer_secret',
  'token_secret',
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
const TELLING_PARAMETER = /authorization|token|key|secret|password/i;
/** `redis://user:password@host`. */
const URL_WITH_PASSWORD = /:\/\/[^\s/?#@:]*:[^\s/?#@]+@/;

export type SecretPath = string[];

/** Paths of every secret in the config, as lists of keys. List positions are digits. A number counts like its text, because fields take both. */
export function secretPaths(definition: VendorDefinition | undefined, config: unknown): SecretPath[] {
  const found: SecretPath[] = [];
  if (!isObject(config)) return found;
  const fields = fieldsOf(definition);
  for (const key of Object.keys(config)) {
    if (SHOWN.has(key)) continue;
    visit(config[key], [key], fields, found);
  }
  return found;
}

interface Fields {
  /** Names of secret fields; `field.column` for the secret columns of lists and tables. */
  secret: ReadonlySet<string>;
  /** Names of all fields. */
  known: ReadonlySet<string>;
}
function fieldsOf(definition: VendorDefinition | undefined): Fields {
  const secret = new Set<string>();
  const all = definition?.config_fields ?? [];
  for (const { key, type, columns } of all) {
    if (type === 'secret') secret.add(key);
    for (const column of columns ?? []) if (column.type === 'secret') secret.add(type === 'list' ? `${key}.` : `${key}.${column.key}`);
  }
  return { secret, known: new Set(all.map(({ key }) => key)) };
}

/** The path of a cell (`rules.0.token`) as `Fields` names it. */
function isSecretCell(path: SecretPath, { secret }: Fields): boolean {
  const [field, row, column = '', ...rest] = path[0] === 'parameters' ? path.slice(1) : path;
  return rest.length === 0 && row !== undefined && /^\d+$/.test(row) && secret.has(`${field}.${column}`);
}

/** The mapping is shown and compared as it is. Credentials do not belong there. */
const SHOWN: ReadonlySet<string> = new Set(MAPPING_KEYS);

function visit(value: unknown, path: SecretPath, fields: Fields, found: SecretPath[]): void {
  const name = path.at(-1) as string;
  if (typeof value === 'string' || typeof value === 'number') {
    const configField = path.length === 1 || (path.length === 2 && path[0] === 'parameters');
    const secret =
      (configField && fields.secret.has(name)) ||
      isSecretCell(path, fields) ||
      SECRET_NAMES.has(name) ||
      inNamedPairs(path) ||
      inAuthValue(path) ||
      inFreeParameters(path, fields);
    if (secret && value !== '') found.push(path);
    else if (typeof value === 'number') return;
    // Headers may be the JSON text of an object. One suspicious name makes the whole text a secret.
    else if (name === 'headers' && TELLING_NAME.test(value)) found.push(path);
    // A mask that is sent back says that its place was secret, where the text decides and not the name.
    else if (URL_WITH_PASSWORD.test(value) || value.startsWith(MASK)) found.push(path);
  } else if (Array.isArray(value)) {
    value.forEach((element, index) => {
      visit(element, [...path, String(index)], fields, found);
    });
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) visit(value[key], [...path, key], fields, found);
  }
}

/** Headers, and the query of an authored request: `?apikey=` is a credential too. */
function inNamedPairs(path: SecretPath): boolean {
  const of = path.at(-2);
  return (of === 'headers' || of === 'query') && TELLING_NAME.test(path.at(-1) as string);
}

/** `auth: {kind: header|query, name, value}` and `{kind: azure_shared_key, account, key}` of an authored request. */
function inAuthValue(path: SecretPath): boolean {
  return (path.at(-1) === 'value' || path.at(-1) === 'key') && path.at(-2) === 'auth';
}

/** Users of custom HTTP choose the names of their parameters, which may be lists and objects. A field of the vendor says itself what is secret in it. */
function inFreeParameters(path: SecretPath, { known }: Fields): boolean {
  const [at, name = ''] = path;
  return at === 'parameters' && path.length >= 2 && TELLING_PARAMETER.test(name) && (path.length === 2 || !known.has(name));
}

/** Ends of a word, because many write `ACCESSTOKEN` or `MYAPIKEY` without a break. `MONKEY` and `KEYWORD` are no secrets, nor is `KEY` alone. */
const SECRET_WORD = /(?:token|secret|password|passwd|pwd|authorization|credential)s?$/;
const SECRET_KEY = /(?:api|access|private|secret|signing|encryption|auth|licen[cs]e)keys?$/;

/** Whether a pipeline parameter is secret. Users choose the names, so the name alone tells: by its words, `vendorApiKey` or `VENDOR_API_KEY`. */
export function isSecretParameter(name: string): boolean {
  const words = (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\P{L}\p{Lu}]+/gu) ?? []).map((word) => word.toLowerCase());
  return words.some((word, at) => SECRET_WORD.test(word) || SECRET_KEY.test(/^keys?$/.test(word) ? `${words[at - 1] ?? ''}${word}` : word));
}
/** Values of a pipeline's secret parameters: by name, and those in `sealed`. Very short texts do not count: masking them would garble everything else. */
export function secretParameterValues(parameters: Readonly<Record<string, string>>, sealed: readonly string[] = []): string[] {
  return Object.keys(parameters).flatMap((name) => {
    const value = parameters[name] ?? '';
    return (isSecretParameter(name) || sealed.includes(name)) && value.length >= MIN_SCRUBBED ? [value] : [];
  });
}
const MIN_SCRUBBED = 4;
/** In events, which have many short values of their own, only values from this length on are masked. */
export const MIN_SCRUBBED_IN_EVENTS = 8;

function valueAt(config: unknown, path: readonly string[]): unknown {
  let value = config;
  for (const step of path) value = Array.isArray(value) ? value[Number(step)] : isObject(value) ? own(value, step) : undefined;
  return value;
}

export const MASK = '••••';
const SHOWN_END = 4;
/** No end is shown of a secret shorter than this. */
const SHOWN_FROM = 12;
/** `••••` and the last four characters; none of a secret shorter than 12. */
export function maskSecret(secret: string): string {
  return secret.length < SHOWN_FROM ? MASK : `${MASK}${secret.slice(-SHOWN_END)}`;
}

/** Secret values of a config. Placeholders and very short texts do not count. */
export function secretValues(definition: VendorDefinition | undefined, config: unknown): string[] {
  const values = new Set<string>();
  for (const path of secretPaths(definition, config)) {
    const found = valueAt(config, path);
    const value = typeof found === 'number' ? String(found) : found;
    if (typeof value === 'string' && value.length >= MIN_SCRUBBED && !hasPlaceholder(value)) values.add(value);
  }
  return [...values];
}

/** Masks secrets in a text, also in their URL-encoded and JSON-escaped forms. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const forms: [string, string][] = [];
  // Longest first, because one secret may contain another.
  for (const secret of [...new Set(secrets)].sort((a, b) => b.length - a.length)) {
    const mask = endsInShortSecret(secret, secrets) ? MASK : maskSecret(secret);
    const variants = new Set([secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]);
    for (const variant of variants) forms.push([variant, mask]);
  }
  return (text) => {
    let out = text;
    for (const [form, mask] of forms) if (out.includes(form)) out = out.replaceAll(form, mask);
    return out;
  };
}

/** Masks every text and key in JSON. Undefined stays. */
export function scrubJson<T>(value: T, scrub: (text: string) => string): T {
  const text = JSON.stringify(value);
  return text === undefined || scrub(text) === text ? value : (scrubAll(JSON.parse(text) as Json, scrub) as T);
}
/** The same in JSON text. */
export function scrubJsonText(text: string, scrub: (text: string) => string): string {
  return scrub(text) === text ? text : JSON.stringify(scrubAll(JSON.parse(text) as Json, scrub));
}
/** Strings are masked one by one: a secret may contain characters of JSON syntax. */
function scrubAll(value: Json, scrub: (text: string) => string): Json {
  if (typeof value === 'string') return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubAll(item, scrub));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [scrub(key), scrubAll(item as Json, scrub)]));
}

const HIDDEN_HEADER = /authorization|token|key|secret/i;

/** A request as previews show it. */
export function maskRequest(request: VendorRequest, secrets: readonly string[]): VendorRequest {
  const scrub = scrubber(secrets);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = HIDDEN_HEADER.test(name) ? maskHeader(value, secrets) : scrub(value);
  const { tls: _certificate, ...shown } = request;
  const masked: VendorRequest = { ...shown, url: scrub(request.url), headers };
  if (typeof request.body === 'string') masked.body = scrub(request.body);
  else if (request.body) masked.body = scrub(decoder.decode(request.body));
  return masked;
}

const decoder = new TextDecoder();

/** The scheme stays readable: `Bearer ••••abcd`. A header is longer than its secret, so its own length does not tell whether the end may be shown. */
function maskHeader(value: string, secrets: readonly string[]): string {
  const scheme = /^(Bearer|Basic|AWS4-HMAC-SHA256) /.exec(value)?.[0] ?? '';
  const credential = value.slice(scheme.length);
  const text = scheme === 'Basic ' ? decoder.decode(fromBase64(credential)) : credential;
  const lastWord = text.split(/[\s:=,;"']+/).findLast((word) => word !== '') ?? '';
  return scheme + (lastWord.length < SHOWN_FROM || endsInShortSecret(text, secrets) ? MASK : maskSecret(credential));
}

/** Whether the last four characters show some of a secret that is too short for that. */
function endsInShortSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length < SHOWN_FROM && text.slice(-(secret.length + SHOWN_END - 1)).includes(secret));
}
