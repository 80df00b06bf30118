/**
 * Requests that a user writes into a config (custom HTTP): `request`, or `requests` of which each takes what it does not say from
 * `request`, and `request` from the config fields `url`, `method` and `headers`. Shapes are those of a vendor definition.
 */
import { isObject, own } from '../json.ts';
import { requestFaults } from './authored-checks.ts';
import type { ConfigFault } from './compiled.ts';
import type { AnswerRule, AuthDefinition, BatchDefinition, BodyDefinition, RequestDefinition } from './definition.ts';
import { readHeaders } from './header-rules.ts';
import { type Shape, shapeFaults } from './shape.ts';

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];
const text: Shape = { kind: 'string' };
const wanted = (kind: string, more: Record<string, Shape>, optional: Record<string, Shape> = {}): Shape => ({
  kind: 'object',
  required: { kind: { kind: 'enum', values: [kind] }, ...more },
  optional,
});

const AUTH: Shape = {
  kind: 'tagged',
  options: {
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
    aws_sigv4: wanted('aws_sigv4', { access_key_id: text, secret_access_key: text, region: text, service: text }, { session_token: text }),
    oauth2_client_credentials: wanted(
      'oauth2_client_credentials',
      { token_url: text, client_id: text, client_secret: text },
      { scope: text, audience: text },
    ),
    oauth2_refresh_token: wanted('oauth2_refresh_token', { token_url: text, client_id: text, client_secret: text, refresh_token: text }),
    google_service_account: wanted('google_service_account', { token_url: text, client_email: text, private_key: text, scope: text }),
  },
};
const BODY: Shape = {
  kind: 'tagged',
  options: {
    json: wanted('json', {}),
    json_list: wanted('json_list', {}, { under: text, common: { kind: 'map', of: { kind: 'any' } } }),
    ndjson: wanted('ndjson', {}),
    form: wanted('form', {}),
    query: wanted('query', {}),
    none: wanted('none', {}),
  },
};
const PARTIAL: Shape = {
  kind: 'object',
  required: {
    failed: { kind: 'enum', values: ['refused', 'unavailable'] },
    others: { kind: 'enum', values: ['delivered', 'unavailable'] },
  },
  optional: { errors: text, index: text, indexes: { kind: 'list', of: text }, results: text, accepted: { kind: 'any' }, reason: text },
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
  optional: { max_bytes: { kind: 'number', min: 1, max: 16_777_216 }, interval_ms: { kind: 'number', min: 1, max: 900_000 } },
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
    items: text,
    merge: { kind: 'list', of: text },
    fill: { kind: 'map', of: text },
    batch: BATCH,
    answers: { kind: 'list', of: ANSWER },
  },
};

export interface Authored {
  /** `url_at`: where the URL was written, for its faults. */
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
    ...(pick(source, ['name', 'when', 'query', 'lane', 'items', 'merge', 'fill']) as Partial<RequestDefinition>),
    method,
    url: typeof source.url === 'string' ? source.url : '',
    headers_field: 'headers',
    auth: (source.auth as AuthDefinition | undefined) ?? { kind: 'none' },
    body: (source.body as BodyDefinition | undefined) ?? { kind: method === 'GET' || method === 'DELETE' ? 'none' : 'json' },
    answers: (source.answers as AnswerRule[] | undefined) ?? [],
  };
  if (headers) definition.headers = headers.headers;
  if (batch) definition.batch = { max_items: 1, max_bytes: 1_000_000, interval_ms: 5_000, ...numbers(batch) };
  if (batch && ['form', 'query', 'none'].includes(definition.body.kind))
    result.invalid.push({ field: `${where}.batch`, message: `a ${definition.body.kind} body takes one event a request` });
  return definition;
}

/** Numbers may have come out of a pipeline parameter, as text. */
function numbers(batch: Partial<BatchDefinition>): Partial<BatchDefinition> {
  return Object.fromEntries(Object.entries(batch).map(([key, value]) => [key, Number(value)]));
}

function pick(source: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => source[key] !== undefined).map((key) => [key, source[key]]));
}
