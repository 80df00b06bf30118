/**
 * Requests that a user writes in a config (custom HTTP). Each of `requests` takes missing keys from `request`, and `request` takes them
 * from the config fields `url`, `method` and `headers`. The shapes are those of a vendor definition.
 */
import { isObject, own } from '../json.ts';
import { requestFaults } from './authored-checks.ts';
import type { ConfigFault } from './compiled.ts';
import type { AnswerRule, AuthDefinition, BatchDefinition, BodyDefinition, RequestDefinition } from './definition.ts';
import { readHeaders } from './header-rules.ts';
import { type Shape, shapeFaults } from './shape.ts';

/** Keys of a request that are taken over unchanged. */
const AS_WRITTEN = ['name', 'when', 'query', 'lane', 'items', 'merge', 'fill', 'shape', 'index_field', 'item_keys'];
/** Bodies with one item per request. */
const SINGLE = ['form', 'query', 'none'];
const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];
const text: Shape = { kind: 'string' };
const wanted = (kind: string, more: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape => ({
  kind: 'object',
  required: { kind: { kind: 'enum', values: [kind] }, ...more },
  optional,
});

const anyMap: Shape = { kind: 'map', of: { kind: 'any' } };
const textMap: Shape = { kind: 'map', of: { kind: 'string', empty: true } };
const PLACE: Shape = { kind: 'object', required: {}, optional: { header: text, prefix: { kind: 'string', empty: true }, query: text } };
const JWT: Shape = {
  kind: 'object',
  required: {
    algorithm: { kind: 'enum', values: ['RS256', 'ES256', 'HS256'] },
    private_key: text,
    claims: textMap,
    lifetime_s: { kind: 'number', min: 60, max: 86_400 },
  },
  optional: { key_id: text },
};
const PLAIN_AUTH: Record<string, Shape> = {
  none: wanted('none', {}),
  bearer: wanted('bearer', { token: text }),
  basic: wanted('basic', { username: text, password: { kind: 'string', empty: true } }),
  header: wanted('header', { name: text, value: text }),
  query: wanted('query', { name: text, value: text }),
  hmac: wanted(
    'hmac',
    { header: text, secret: text },
    { prefix: { kind: 'string', empty: true }, encoding: { kind: 'enum', values: ['hex', 'base64'] }, timestamp_header: text },
  ),
  standard_webhooks: wanted('standard_webhooks', { secret: text }),
  aws_sigv4: wanted('aws_sigv4', { access_key_id: text, secret_access_key: text, region: text, service: text }, { session_token: text }),
  oauth1: wanted(
    'oauth1',
    { consumer_key: text, consumer_secret: text, token: text, token_secret: text },
    { signature_method: { kind: 'enum', values: ['HMAC-SHA1', 'HMAC-SHA256'] } },
  ),
  jwt: wanted('jwt', { jwt: JWT }, { place: PLACE }),
  azure_shared_key: wanted('azure_shared_key', { account: text, key: text }),
  azure_sas: wanted('azure_sas', { token: text }),
  azure_service_bus_sas: wanted('azure_service_bus_sas', { resource: text, key_name: text, key: text }),
  oauth2_client_credentials: wanted(
    'oauth2_client_credentials',
    { token_url: text, client_id: text, client_secret: text },
    { scope: text, audience: text, extra: textMap, style: { kind: 'enum', values: ['form', 'json', 'basic'] }, place: PLACE },
  ),
  oauth2_refresh_token: wanted(
    'oauth2_refresh_token',
    { token_url: text, client_id: text, client_secret: text, refresh_token: text },
    { place: PLACE },
  ),
  google_service_account: wanted(
    'google_service_account',
    { token_url: text, client_email: text, private_key: text, scope: text },
    { place: PLACE },
  ),
  oauth2_jwt_bearer: wanted(
    'oauth2_jwt_bearer',
    { token_url: text, jwt: JWT },
    { scope: text, role: { kind: 'enum', values: ['grant', 'client'] }, extra: textMap, place: PLACE },
  ),
};
const AUTH: Shape = {
  kind: 'tagged',
  options: {
    ...PLAIN_AUTH,
    mutual_tls: wanted('mutual_tls', { certificate: text, private_key: text }, { with: { kind: 'tagged', options: PLAIN_AUTH } }),
  },
};
const LIST_BODIES: Record<string, Shape> = {
  json_list: wanted('json_list', {}, { under: text, common: anyMap }),
  ndjson: wanted('ndjson', {}),
  csv: wanted('csv', { columns: { kind: 'map', of: text } }, { delimiter: text, header: { kind: 'boolean' } }),
};
const FILE: Shape = {
  kind: 'object',
  required: { name: text, filename: text, content_type: text, content: { kind: 'tagged', options: LIST_BODIES } },
  optional: {},
};
const BODY: Shape = {
  kind: 'tagged',
  options: {
    ...LIST_BODIES,
    json: wanted('json', {}),
    form: wanted('form', {}, { numbered: text }),
    form_list: wanted('form_list', { field: text }, { common: textMap }),
    xml: wanted('xml', { root: text }, { item: text, attributes: textMap }),
    multipart: wanted('multipart', { file: FILE }, { fields: textMap }),
    query: wanted('query', {}, { numbered: text }),
    none: wanted('none', {}),
  },
};
const PARTIAL: Shape = {
  kind: 'object',
  required: {
    failed: { kind: 'enum', values: ['refused', 'unavailable'] },
    others: { kind: 'enum', values: ['delivered', 'unavailable'] },
  },
  optional: {
    errors: text,
    index: text,
    key: text,
    indexes: { kind: 'list', of: text },
    keys: { kind: 'list', of: text },
    results: text,
    accepted: { kind: 'any' },
    reason: text,
  },
};
const ANSWER: Shape = {
  kind: 'object',
  required: { verdict: { kind: 'enum', values: ['delivered', 'refused', 'unavailable', 'refresh_token', 'partial'] } },
  optional: {
    status: { kind: 'list', of: { kind: 'any' } },
    when: { kind: 'any' },
    partial: PARTIAL,
    reason: text,
    retry_after: { kind: 'object', required: {}, optional: { header: text, path: text, ms: { kind: 'number', min: 0, max: 3_600_000 } } },
    isolate: { kind: 'boolean' },
  },
};
const BATCH: Shape = {
  kind: 'object',
  required: { max_items: { kind: 'number', min: 1, max: 10_000 } },
  optional: {
    max_bytes: { kind: 'number', min: 1, max: 16_777_216 },
    interval_ms: { kind: 'number', min: 1, max: 900_000 },
    combine: { kind: 'object', required: { by: text, how: { kind: 'enum', values: ['last', 'merge'] } }, optional: {} },
  },
};
const REQUEST: Shape = {
  kind: 'object',
  required: {},
  optional: {
    name: text,
    when: { kind: 'any' },
    method: { kind: 'enum', values: METHODS },
    url: text,
    headers: { kind: 'any' },
    query: { kind: 'map', of: { kind: 'string', empty: true } },
    auth: AUTH,
    body: BODY,
    lane: { kind: 'list', of: text },
    items: { kind: 'any' },
    shape: { kind: 'any' },
    index_field: { kind: 'object', required: { name: text, type: { kind: 'enum', values: ['number', 'string'] } }, optional: {} },
    item_keys: { kind: 'list', of: text },
    merge: { kind: 'list', of: text },
    fill: { kind: 'map', of: text },
    batch: BATCH,
    answers: { kind: 'list', of: ANSWER },
  },
};

export interface Authored {
  /** `url_at`: path of the URL in the config, for its faults. */
  requests: { definition: RequestDefinition; where: string; url_at: string }[];
  missing: ConfigFault[];
  invalid: ConfigFault[];
}

export function readAuthored(config: Record<string, unknown>, values: Record<string, unknown>): Authored {
  const result: Authored = { requests: [], missing: [], invalid: [] };
  const base = own(config, 'request');
  const list = own(config, 'requests');
  if (base !== undefined) result.invalid.push(...shapeFaults(base, REQUEST, 'request'));
  if (list !== undefined) result.invalid.push(...shapeFaults(list, { kind: 'list', of: REQUEST }, 'requests'));
  if (result.invalid.length > 0) return result;
  const free = own(config, 'parameters');
  const parameters = { ...(isObject(free) ? free : {}), ...values };
  const common = { ...pick(values, ['url', 'method']), ...(isObject(base) ? base : {}) };
  const entries = Array.isArray(list) && list.length > 0 ? list : [{}];
  entries.forEach((entry, index) => {
    const where = Array.isArray(list) && list.length > 0 ? `requests[${index}]` : 'request';
    const definition = toRequest({ ...common, ...(entry as Record<string, unknown>) }, where, result);
    const url_at = urlAt(entry, base, where);
    result.invalid.push(...requestFaults(definition, { where, url_at }, parameters));
    if (definition.url === '') result.missing.push({ field: where === 'request' ? 'url' : `${where}.url`, message: 'is required' });
    else result.requests.push({ definition, where, url_at });
  });
  return result;
}

function urlAt(entry: unknown, base: unknown, where: string): string {
  if (isObject(entry) && entry.url !== undefined) return `${where}.url`;
  return isObject(base) && base.url !== undefined ? 'request.url' : 'url';
}

function toRequest(source: Record<string, unknown>, where: string, result: Authored): RequestDefinition {
  const headers = source.headers === undefined ? undefined : readHeaders(source.headers, `${where}.headers`);
  if (headers) result.invalid.push(...headers.faults);
  const method = typeof source.method === 'string' ? source.method : 'POST';
  const batch = source.batch as Partial<BatchDefinition> | undefined;
  const definition: RequestDefinition = {
    ...(pick(source, AS_WRITTEN) as Partial<RequestDefinition>),
    method,
    url: typeof source.url === 'string' ? source.url : '',
    headers_field: 'headers',
    auth: (source.auth as AuthDefinition | undefined) ?? { kind: 'none' },
    body: (source.body as BodyDefinition | undefined) ?? { kind: method === 'GET' || method === 'DELETE' ? 'none' : 'json' },
    answers: (source.answers as AnswerRule[] | undefined) ?? [],
  };
  if (headers) definition.headers = headers.headers;
  if (batch) definition.batch = { max_items: 1, max_bytes: 1_000_000, interval_ms: 5_000, ...numbers(batch) };
  const single = SINGLE.includes(definition.body.kind) || (definition.body.kind === 'xml' && definition.body.item === undefined);
  if (batch && single)
    result.invalid.push({ field: `${where}.batch`, message: `a ${definition.body.kind} body takes one event per request` });
  return definition;
}

/** Numbers may come from a pipeline parameter, as text. */
function numbers(batch: Partial<BatchDefinition>): Partial<BatchDefinition> {
  return Object.fromEntries(Object.entries(batch).map(([key, value]) => [key, typeof value === 'object' ? value : Number(value)]));
}

function pick(source: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => source[key] !== undefined).map((key) => [key, source[key]]));
}
