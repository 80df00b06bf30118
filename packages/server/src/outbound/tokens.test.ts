import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TokenPlan, VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EventLog, openLmdbLog } from '../stores/event-log/lmdb.ts';
import { LogUnavailable } from '../stores/event-log/port.ts';
import type { GuardedClient, SendResult } from './guarded-client.ts';
import { keepRotatedTokens } from './rotated-tokens.ts';
import { createTokenCache } from './tokens.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const REFRESH: TokenPlan = {
  kind: 'oauth2_refresh_token',
  token_url: 'https://auth.example/token',
  client_id: 'id',
  client_secret: 'secret',
  refresh_token: 'r1',
};

const logger = pino({ level: 'silent' });
let path: string;
let log: EventLog;
const openLog = async () => {
  log = await openLmdbLog({ path, dedupWindowMs: 60_000 });
};
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'firsthand-tokens-'));
  await openLog();
});
afterEach(async () => {
  await log.close();
  rmSync(path, { recursive: true, force: true });
});

function setup(answers: (Partial<VendorReply> | Extract<SendResult, { kind: 'failed' }>)[]) {
  const sent: VendorRequest[] = [];
  const time = { ms: 1_000_000 };
  const client: GuardedClient = {
    async send(request) {
      const answer = answers[Math.min(sent.length, answers.length - 1)]!;
      sent.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      return 'kind' in answer ? answer : { kind: 'reply', reply: { status: 200, headers: {}, body: '', ...answer }, duration_ms: 1 };
    },
    async close() {},
  };
  const clock = { now: () => time.ms, monotonic: () => time.ms };
  const tokens = createTokenCache({ client, clock, logger, rotated: keepRotatedTokens(log) });
  const formOf = (i: number) => Object.fromEntries(new URLSearchParams(String(sent[i]!.body)));
  return { tokens, sent, time, formOf };
}
const tokenReply = (token: string, expires_in = 3600, more = {}) => ({
  body: JSON.stringify({ access_token: token, expires_in, ...more }),
});

test('50 parallel callers cause one request, and the token is cached until a minute before its expiry', async () => {
  const { tokens, sent, time } = setup([tokenReply('t1'), tokenReply('t2')]);
  const all = await Promise.all(Array.from({ length: 50 }, () => tokens.get(REFRESH)));
  expect(new Set(all.map((result) => result.kind === 'token' && result.token))).toEqual(new Set(['t1']));
  time.ms += 3_539_000;
  expect(await tokens.get({ ...REFRESH })).toEqual({ kind: 'token', token: 't1' });
  expect(sent).toHaveLength(1);
  time.ms += 2_000;
  expect(await tokens.get(REFRESH)).toEqual({ kind: 'token', token: 't2' });
});

test('a rejected token is replaced once, though many reject it', async () => {
  const { tokens, sent } = setup([tokenReply('t1'), tokenReply('t2')]);
  await tokens.get(REFRESH);
  tokens.reject(REFRESH, 't1');
  expect(await tokens.get(REFRESH)).toEqual({ kind: 'token', token: 't2' });
  tokens.reject(REFRESH, 't1');
  expect(await tokens.get(REFRESH)).toEqual({ kind: 'token', token: 't2' });
  expect(sent).toHaveLength(2);
});

test('a rotated refresh token is used from then on', async () => {
  const { tokens, time, formOf } = setup([tokenReply('t1', 100, { refresh_token: 'r2' })]);
  await tokens.get(REFRESH);
  time.ms += 200_000;
  await tokens.get(REFRESH);
  expect([formOf(0).refresh_token, formOf(1).refresh_token]).toEqual(['r1', 'r2']);
});

test('a rotated refresh token outlives the process, and nothing readable of it is stored', async () => {
  await setup([tokenReply('t1', 100, { refresh_token: 'rotated-once' })]).tokens.get(REFRESH);
  const [topic] = await log.topics('tokens.');
  for await (const { data } of log.read(topic!, { limit: 10 })) expect(Buffer.from(data).toString('latin1')).not.toContain('rotated');
  await log.close();
  await openLog();
  const { tokens, time, formOf } = setup([tokenReply('t2', 100, { refresh_token: 'rotated-twice' })]);
  await tokens.get(REFRESH);
  time.ms += 200_000;
  await tokens.get(REFRESH);
  expect([formOf(0).refresh_token, formOf(1).refresh_token]).toEqual(['rotated-once', 'rotated-twice']);
});

test('a newly configured refresh token replaces any rotated one', async () => {
  const { tokens, formOf } = setup([tokenReply('t1', 100, { refresh_token: 'r2' })]);
  await tokens.get(REFRESH);
  await tokens.get({ ...REFRESH, refresh_token: 'another' });
  expect(formOf(1).refresh_token).toBe('another');
});

test('a refresh token that cannot be stored yet is used, and stored later', async () => {
  const { tokens, time, formOf, sent } = setup([tokenReply('t1', 3600, { refresh_token: 'r2' }), tokenReply('t2')]);
  const { append } = log;
  log.append = async () => {
    throw new LogUnavailable('the disk is full');
  };
  expect(await tokens.get(REFRESH)).toEqual({ kind: 'token', token: 't1' });
  log.append = append;
  time.ms += 11_000;
  expect(await tokens.get(REFRESH)).toEqual({ kind: 'token', token: 't2' });
  expect(formOf(1).refresh_token).toBe('r2');
  const later = setup([tokenReply('t3')]);
  await later.tokens.get(REFRESH);
  expect(later.formOf(0).refresh_token).toBe('r2');
  expect(sent).toHaveLength(2);
});

test('client credentials, and only the fields that are there', async () => {
  const { tokens, formOf } = setup([tokenReply('t')]);
  await tokens.get({
    kind: 'oauth2_client_credentials',
    token_url: 'https://a.example/',
    client_id: 'i',
    client_secret: 's',
    scope: 'x y',
  });
  expect(formOf(0)).toEqual({ grant_type: 'client_credentials', client_id: 'i', client_secret: 's', scope: 'x y' });
});

test('a self-signed token authenticates the client of a client credentials grant', async () => {
  const { tokens, formOf } = setup([tokenReply('t')]);
  const jwt = { algorithm: 'HS256', private_key: 'secret', claims: { sub: 'me' }, lifetime_s: 60 } as const;
  await tokens.get({
    kind: 'oauth2_jwt_bearer',
    token_url: 'https://a.example/',
    jwt,
    role: 'client',
    scope: 'x',
    extra: { realm: 'dsp' },
  });
  const { client_assertion, ...fields } = formOf(0);
  expect(client_assertion).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(fields).toEqual({
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    scope: 'x',
    realm: 'dsp',
  });
});

describe('a service account', () => {
  const plan = (private_key: string): TokenPlan => ({
    kind: 'google_service_account',
    token_url: 'https://oauth2.googleapis.com/token',
    client_email: 'a@b.iam.example',
    private_key,
    scope: 'https://www.googleapis.com/auth/x',
  });
  test.each([
    ['as it is', PEM],
    ['with its line breaks written out', PEM.replaceAll('\n', '\\n')],
  ])('signs its assertion with the key %s', async (_name, key) => {
    const { tokens, formOf, time } = setup([tokenReply('t')]);
    expect(await tokens.get(plan(key))).toEqual({ kind: 'token', token: 't' });
    const { grant_type, assertion } = formOf(0);
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head, claims, signature] = assertion!.split('.');
    expect(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature!, 'base64url')).toBe(true);
    expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toEqual({
      iss: 'a@b.iam.example',
      scope: 'https://www.googleapis.com/auth/x',
      aud: 'https://oauth2.googleapis.com/token',
      iat: Math.floor(time.ms / 1000),
      exp: Math.floor(time.ms / 1000) + 3600,
    });
  });
  test('with a key that does not parse is refused, and the key is not in the reason', async () => {
    const { tokens, sent } = setup([tokenReply('t')]);
    expect(await tokens.get(plan('-----BEGIN nonsense'))).toEqual({
      kind: 'refused',
      reason: 'the private key does not parse',
    });
    expect(sent).toHaveLength(0);
  });
});

test.each([
  [
    'invalid_grant',
    { status: 400, body: '{"error":"invalid_grant"}' },
    { kind: 'refused', reason: 'token endpoint: http_400 invalid_grant' },
  ],
  ['401 without a body', { status: 401 }, { kind: 'refused', reason: 'token endpoint: http_401 no access token in the answer' }],
  ['200 without a token', { body: '{}' }, { kind: 'refused', reason: 'token endpoint: http_200 no access token in the answer' }],
  ['503', { status: 503 }, { kind: 'unavailable', reason: 'token endpoint: http_503' }],
  [
    '429 with a wish',
    { status: 429, headers: { 'retry-after': '7' } },
    { kind: 'unavailable', reason: 'token endpoint: http_429', retry_after_ms: 7_000 },
  ],
  [
    'a network error',
    { kind: 'failed' as const, error: 'ECONNRESET', permanent: false, duration_ms: 1 },
    { kind: 'unavailable', reason: 'token endpoint: ECONNRESET' },
  ],
])('%s', async (_name, answer, expected) => {
  const { tokens, sent } = setup([answer]);
  expect(await tokens.get(REFRESH)).toEqual(expected);
  await tokens.get(REFRESH);
  expect(sent).toHaveLength(1);
});

test('half a surrogate pair in a client id is sent as the replacement character (the grant threw, and so did every later one)', async () => {
  const { tokens, sent } = setup([tokenReply('t1')]);
  const plan: TokenPlan = {
    kind: 'oauth2_client_credentials',
    token_url: 'https://auth.example/token',
    client_id: 'id\ud800',
    client_secret: 's\udc00',
    style: 'basic',
  };
  expect(await tokens.get(plan)).toEqual({ kind: 'token', token: 't1' });
  expect(sent[0]?.headers.authorization).toBe(`Basic ${Buffer.from('id%EF%BF%BD:s%EF%BF%BD').toString('base64')}`);
});
