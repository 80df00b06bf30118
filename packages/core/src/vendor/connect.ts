/** The OAuth connect flow of a vendor with a config's own client: authorize URL, token request, reply. Pure; the caller sends. */
import { isObject, type JsonObject } from '../json.ts';
import { hasPlaceholder } from '../mapping/parameters/placeholder.ts';
import { parseBody } from './answers.ts';
import type { ConfigFault, VendorReply, VendorRequest } from './compiled.ts';
import type { ConnectDefinition, VendorDefinition } from './definition.ts';
import { readFields } from './fields.ts';
import { fieldsOf } from './settings.ts';
import { compileText } from './text.ts';
import { redirectTo, type UrlRules, urlFault } from './url-rules.ts';

export interface ConnectPlan {
  provider: string;
  authorize_url: string;
  token_url: string;
  client_id: string;
  client_secret: string;
  pkce: boolean;
  scope: string;
  extra: Record<string, string>;
}

/** The flow for this config. Only the fields that it uses must be filled in: the refresh token is what is still missing. */
export function connectPlan(
  connect: ConnectDefinition,
  definition: VendorDefinition,
  config: JsonObject,
  rules: UrlRules,
): { ok: true; plan: ConnectPlan } | { ok: false; faults: ConfigFault[] } {
  const { values, invalid } = readFields(fieldsOf(definition), config, { ...rules, placeholders: false });
  const faults: ConfigFault[] = [];
  const resolve = (key: 'authorize_url' | 'token_url' | 'client_id' | 'client_secret'): string => {
    const uses = [...connect[key].matchAll(/\{\{\s*parameters\.([a-z0-9_]+)\s*\}\}/g)].map(([, field = '']) => field);
    for (const field of uses) {
      const known = invalid.find((fault) => fault.field === field || fault.field === `parameters.${field}`);
      if (known) faults.push(known);
      else if (values[field] === undefined) faults.push({ field, message: 'is required' });
      else if (hasPlaceholder(values[field])) faults.push({ field, message: 'refers to a pipeline parameter that has no value' });
    }
    return compileText(connect[key], values).constant ?? '';
  };
  const plan: ConnectPlan = {
    provider: connect.provider,
    authorize_url: resolve('authorize_url'),
    token_url: redirectTo(values.endpoint)(resolve('token_url')),
    client_id: resolve('client_id'),
    client_secret: resolve('client_secret'),
    pkce: connect.pkce !== false,
    scope: connect.scopes.join(' '),
    extra: connect.extra ?? {},
  };
  if (faults.length === 0)
    for (const key of ['authorize_url', 'token_url'] as const) {
      const message = urlFault(plan[key], rules);
      if (message !== undefined) faults.push({ field: key, message });
    }
  return faults.length > 0 ? { ok: false, faults: faults.filter(isFirst) } : { ok: true, plan };
}

function isFirst({ field }: ConfigFault, index: number, all: readonly ConfigFault[]): boolean {
  return all.findIndex((fault) => fault.field === field) === index;
}

export function authorizeUrl(plan: ConnectPlan, request: { redirect_uri: string; state: string; challenge: string }): string {
  const url = new URL(plan.authorize_url);
  const query = {
    ...plan.extra,
    response_type: 'code',
    client_id: plan.client_id,
    redirect_uri: request.redirect_uri,
    scope: plan.scope,
    state: request.state,
    ...(plan.pkce ? { code_challenge: request.challenge, code_challenge_method: 'S256' } : {}),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

export function codeRequest(plan: ConnectPlan, sent: { code: string; redirect_uri: string; verifier: string }): VendorRequest {
  const fields = {
    grant_type: 'authorization_code',
    code: sent.code,
    redirect_uri: sent.redirect_uri,
    client_id: plan.client_id,
    client_secret: plan.client_secret,
    ...(plan.pkce ? { code_verifier: sent.verifier } : {}),
  };
  const body = Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join('&');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
  return { method: 'POST', url: plan.token_url, headers, body };
}

export type CodeReply =
  | { kind: 'refresh_token'; token: string }
  /** Try again later. */
  | { kind: 'unavailable'; reason: string }
  | { kind: 'refused'; reason: string };

const MAX_TOKEN_CHARS = 8_192;
const PRINTABLE = /^[\x21-\x7e]+$/;

export function readCodeReply({ status, body }: VendorReply): CodeReply {
  if (status === 429 || status >= 500) return { kind: 'unavailable', reason: `http_${status}` };
  const parsed = parseBody(body);
  const answer = isObject(parsed) ? parsed : undefined;
  if (status < 200 || status >= 300 || typeof answer?.error === 'string')
    return { kind: 'refused', reason: providerError(answer?.error, answer?.error_description) ?? `http_${status}` };
  if (!answer) return { kind: 'refused', reason: 'the answer is not a JSON object' };
  const { refresh_token: token } = answer;
  if (token === undefined || token === '') return { kind: 'refused', reason: 'no refresh token in the answer' };
  if (typeof token !== 'string' || token.length > MAX_TOKEN_CHARS || !PRINTABLE.test(token))
    return { kind: 'refused', reason: 'the refresh token is malformed' };
  return { kind: 'refresh_token', token };
}

/** `error` and `error_description` of RFC 6749 as one short line of plain text. */
export function providerError(error: unknown, description: unknown): string | undefined {
  const parts = [error, description].filter((part) => typeof part === 'string').map(plain);
  const [code, text] = parts;
  if (code === undefined || code === '') return undefined;
  return text === undefined || text === '' ? code : `${code} (${text})`;
}
function plain(text: string): string {
  return text
    .slice(0, 1_000)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}

/** The config with its new refresh token. A value under `parameters` wins, so the token is written where the old one stands. */
export function connectedConfig(connect: ConnectDefinition, config: JsonObject, token: string): JsonObject {
  const { parameters } = config;
  const result: JsonObject = { ...config };
  const inner: JsonObject = isObject(parameters) ? { ...(parameters as JsonObject) } : {};
  for (const [key, value] of Object.entries({ ...connect.sets, [connect.refresh_token_field]: token })) {
    if (Object.hasOwn(inner, key)) inner[key] = value;
    else result[key] = value;
  }
  return Object.keys(inner).length === 0 ? result : { ...result, parameters: inner };
}
