/**
 * Access tokens for vendors that require one. One request at a time per plan, shared by all callers; cached until shortly before it
 * expires.
 *
 * A token endpoint that answers 4xx (`invalid_grant`, `invalid_client` …) keeps refusing until a person acts: the events become dead
 * letters with that reason and can be replayed later. 429, 5xx and network errors are retried like any attempt.
 */
import { createHash } from 'node:crypto';
import { isObject } from '@firsthand/core/json.ts';
import type { TokenPlan, VendorReply } from '@firsthand/core/vendor/compiled.ts';
import { signJwt } from '@firsthand/core/vendor/jwt.ts';
import { retryAfterMs } from '@firsthand/core/vendor/retry-after.ts';
import type { Logger } from 'pino';
import type { Clock } from '../runtime/clock.ts';
import { deleteOldest } from '../runtime/maps.ts';
import { privateKeys } from '../runtime/private-keys.ts';
import type { GuardedClient } from './guarded-client.ts';
import type { RotatedTokens } from './rotated-tokens.ts';

export type TokenResult =
  | { kind: 'token'; token: string }
  | { kind: 'unavailable'; reason: string; retry_after_ms?: number }
  | { kind: 'refused'; reason: string };
interface Fetched {
  result: TokenResult;
  lifetime_ms: number;
  rotated?: string;
}

export interface TokenCache {
  get(plan: TokenPlan): Promise<TokenResult>;
  /** The vendor rejected this token: the next `get` fetches a new one, unless another caller already did. */
  reject(plan: TokenPlan, token: string): void;
}

const TIMEOUT_MS = 10_000;
const MAX_PLANS = 1_000;
const DEFAULT_LIFETIME_MS = 3_600_000;
const MAX_LIFETIME_MS = 86_400_000;
/** A token is not used in its last minute, or in its last tenth if its lifetime is under ten minutes. */
const MARGIN_MS = 60_000;
/** How long a failure is cached, so that a thousand waiting events do not send a thousand requests. */
const KEEP_REFUSED_MS = 30_000;
const KEEP_UNAVAILABLE_MS = 500;
/** Lifetime if a new refresh token could not be stored: storing is retried soon. */
const UNKEPT_LIFETIME_MS = 10_000;

interface Entry {
  result: TokenResult | undefined;
  until: number;
  pending: Promise<TokenResult> | undefined;
  /** A new refresh token that could not be stored yet; only this process has it. */
  unkept?: string | undefined;
}

type RefreshPlan = Extract<TokenPlan, { kind: 'oauth2_refresh_token' }>;

export interface TokenDeps {
  client: GuardedClient;
  clock: Clock;
  rotated: RotatedTokens;
  logger: Pick<Logger, 'warn'>;
}

export function createTokenCache(deps: TokenDeps): TokenCache {
  const entries = new Map<string, Entry>();
  const keys = new WeakMap<TokenPlan, string>();

  function entryOf(plan: TokenPlan): Entry {
    let key = keys.get(plan);
    if (key === undefined) keys.set(plan, (key = createHash('sha256').update(JSON.stringify(plan)).digest('base64')));
    let entry = entries.get(key);
    if (!entry) {
      entries.set(key, (entry = { result: undefined, until: 0, pending: undefined }));
      if (entries.size > MAX_PLANS) deleteOldest(entries);
    }
    return entry;
  }
  async function refresh(plan: TokenPlan, entry: Entry): Promise<TokenResult> {
    const { result, lifetime_ms } =
      plan.kind === 'oauth2_refresh_token' ? await redeemRefreshToken(plan, entry) : await grant(plan, undefined);
    entry.result = result;
    entry.until = deps.clock.monotonic() + lifetime_ms;
    entry.pending = undefined;
    return result;
  }
  async function grant(plan: TokenPlan, rotated: string | undefined): Promise<Fetched> {
    const request = grantOf(plan, rotated, deps.clock.now());
    return 'body' in request ? fetchToken(plan, request) : request;
  }
  /** Trades the newest refresh token for an access token, and possibly a new refresh token. */
  async function redeemRefreshToken(plan: RefreshPlan, entry: Entry): Promise<Fetched> {
    let known = entry.unkept;
    try {
      known ??= await deps.rotated.newest(plan);
    } catch (error) {
      const reason = `the newest refresh token cannot be read: ${(error as Error).message}`;
      return { result: { kind: 'unavailable', reason }, lifetime_ms: KEEP_UNAVAILABLE_MS };
    }
    const answer = await grant(plan, known);
    const newest = answer.rotated ?? entry.unkept;
    if (newest === undefined || newest === plan.refresh_token || (newest === known && entry.unkept === undefined)) return answer;
    try {
      await deps.rotated.keep(plan, newest);
      entry.unkept = undefined;
      return answer;
    } catch (error) {
      entry.unkept = newest;
      deps.logger.warn({ err: error, token_url: plan.token_url }, 'new refresh token not stored, retrying');
      return { ...answer, lifetime_ms: Math.min(answer.lifetime_ms, UNKEPT_LIFETIME_MS) };
    }
  }
  async function fetchToken({ token_url: url, tls }: TokenPlan, { body, headers: more }: TokenRequest): Promise<Fetched> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', ...more };
    const sent = await deps.client.send({ method: 'POST', url, headers, body, ...(tls ? { tls } : {}) }, TIMEOUT_MS);
    if (sent.kind === 'reply') return readTokenReply(sent.reply, deps.clock.now());
    const reason = `token endpoint: ${sent.error}`;
    return sent.permanent
      ? { result: { kind: 'refused', reason }, lifetime_ms: KEEP_REFUSED_MS }
      : { result: { kind: 'unavailable', reason }, lifetime_ms: KEEP_UNAVAILABLE_MS };
  }

  return {
    get(plan) {
      const entry = entryOf(plan);
      if (entry.result && deps.clock.monotonic() < entry.until) return Promise.resolve(entry.result);
      // The next call tries again, whatever went wrong.
      entry.pending ??= refresh(plan, entry).catch((error: unknown) => {
        entry.pending = undefined;
        throw error;
      });
      return entry.pending;
    },
    reject(plan, token) {
      const entry = entryOf(plan);
      if (entry.result?.kind === 'token' && entry.result.token === token) entry.until = 0;
    },
  };
}

function readTokenReply(reply: VendorReply, now: number): Fetched {
  const body = parseObject(reply.body);
  if (reply.status === 429 || reply.status >= 500) {
    const wished = retryAfterMs(reply.headers['retry-after'], now);
    const reason = `token endpoint: http_${reply.status}`;
    return {
      result: { kind: 'unavailable', reason, ...(wished === undefined ? {} : { retry_after_ms: wished }) },
      lifetime_ms: KEEP_UNAVAILABLE_MS,
    };
  }
  const token = body?.access_token;
  if (reply.status >= 200 && reply.status < 300 && typeof token === 'string' && token !== '') {
    const seconds = Number(body?.expires_in);
    const lifetime = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
    const rotated = typeof body?.refresh_token === 'string' ? { rotated: body.refresh_token } : {};
    return { result: { kind: 'token', token }, lifetime_ms: lifetime - Math.min(MARGIN_MS, lifetime / 10), ...rotated };
  }
  const code = typeof body?.error === 'string' ? body.error.slice(0, 80) : 'no access token in the answer';
  return { result: { kind: 'refused', reason: `token endpoint: http_${reply.status} ${code}` }, lifetime_ms: KEEP_REFUSED_MS };
}

interface TokenRequest {
  body: string;
  headers?: Record<string, string>;
}

/** The request to the token endpoint, or why there is none. */
function grantOf(plan: TokenPlan, rotated: string | undefined, now: number): TokenRequest | Fetched {
  switch (plan.kind) {
    case 'oauth2_client_credentials':
      return clientCredentials(plan);
    case 'oauth2_refresh_token':
      return form({
        grant_type: 'refresh_token',
        client_id: plan.client_id,
        client_secret: plan.client_secret,
        refresh_token: rotated ?? plan.refresh_token,
      });
    case 'google_service_account':
      return jwtGrant(() => serviceAccountJwt(plan, now));
    case 'oauth2_jwt_bearer':
      return jwtGrant(() => signJwt(plan.jwt, now, privateKeys), plan);
  }
}

function clientCredentials(plan: Extract<TokenPlan, { kind: 'oauth2_client_credentials' }>): TokenRequest {
  const { client_id, client_secret, scope, audience, extra } = plan;
  const fields = { grant_type: 'client_credentials', scope, audience, ...extra };
  if (plan.style === 'json') {
    return { body: JSON.stringify({ ...fields, client_id, client_secret }), headers: { 'content-type': 'application/json' } };
  }
  if (plan.style !== 'basic') return form({ ...fields, client_id, client_secret });
  const part = (text: string) => encodeURIComponent(text.toWellFormed());
  const basic = Buffer.from(`${part(client_id)}:${part(client_secret)}`).toString('base64');
  return { ...form(fields), headers: { authorization: `Basic ${basic}` } };
}

type JwtGrant = Pick<Extract<TokenPlan, { kind: 'oauth2_jwt_bearer' }>, 'scope' | 'role' | 'extra'>;

/** RFC 7523: the signed token is the grant, or it authenticates the client of a client credentials grant. */
function jwtGrant(signToken: () => string, { scope, role, extra }: JwtGrant = {}): TokenRequest | Fetched {
  try {
    const token = signToken();
    if (role !== 'client') return form({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: token, scope, ...extra });
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    return form({ grant_type: 'client_credentials', client_assertion_type, client_assertion: token, scope, ...extra });
  } catch {
    // The error message may quote the key.
    return { result: { kind: 'refused', reason: 'the private key does not parse' }, lifetime_ms: KEEP_REFUSED_MS };
  }
}

function form(fields: Record<string, string | undefined>): TokenRequest {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return { body: new URLSearchParams(given).toString() };
}

function serviceAccountJwt(plan: Extract<TokenPlan, { kind: 'google_service_account' }>, now: number): string {
  const claims = { iss: plan.client_email, scope: plan.scope, aud: plan.token_url };
  return signJwt({ algorithm: 'RS256', private_key: plan.private_key, claims, lifetime_s: 3_600 }, now, privateKeys);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
