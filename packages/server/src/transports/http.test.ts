import type { CompiledVendor, TokenPlan, VendorReply, VendorRequest, Verdict } from '@firsthand/core/vendor/compiled.ts';
import { expect, test } from 'vitest';
import type { GuardedClient, SendResult } from '../outbound/guarded-client.ts';
import type { TokenCache, TokenResult } from '../outbound/tokens.ts';
import { sendBatch } from './http.ts';

const PLAN: TokenPlan = { kind: 'oauth2_client_credentials', token_url: 'https://a.example/', client_id: 'i', client_secret: 's' };
const OK: SendResult = { kind: 'reply', reply: { status: 200, headers: {}, body: '' }, duration_ms: 1 };
const answer = (status: number, headers: Record<string, string> = {}): SendResult => ({
  kind: 'reply',
  reply: { status, headers, body: '' },
  duration_ms: 1,
});
const byStatus = ({ status }: VendorReply): Verdict =>
  status === 200
    ? { kind: 'delivered' }
    : status === 401
      ? { kind: 'unavailable', reason: 'http_401', refresh_token: true }
      : { kind: 'unavailable', reason: `http_${status}` };

function setup(answers: SendResult[], tokens: TokenResult[], vendor: Partial<CompiledVendor> = {}) {
  const sent: VendorRequest[] = [];
  const rejected: string[] = [];
  const client: GuardedClient = {
    async send(request) {
      sent.push(request);
      return answers[sent.length - 1]!;
    },
    async close() {},
  };
  let given = 0;
  const cache: TokenCache = {
    get: async () => tokens[given++]!,
    reject: (_plan, token) => void rejected.push(token),
  };
  const compiled = {
    request: (_items, { access_token, attempt, request_id }) => ({
      method: 'POST',
      url: 'https://v.example/',
      headers: { token: access_token ?? '', attempt: String(attempt), id: request_id },
    }),
    read: byStatus,
    timeout_ms: 1_000,
    ...vendor,
  } as CompiledVendor;
  const items = [{ lane: '0', payload: {}, size: 2, event_id: 'e1' }];
  const clock = { now: () => 1_000_000, monotonic: () => 5 };
  const run = () => sendBatch({ vendor: compiled, items, attempt: 3 }, 'e1', { client, tokens: cache, clock });
  return { run, sent, rejected };
}

test('a plain request carries its attempt and id', async () => {
  const { run, sent } = setup([OK], []);
  expect(await run()).toMatchObject({ verdict: { kind: 'delivered' }, status: 200, at: 1_000_000 });
  expect(sent[0]!.headers).toEqual({ token: '', attempt: '3', id: 'e1' });
});

test('a token that is no longer accepted is replaced, and the request sent again at once, as the same attempt', async () => {
  const { run, sent, rejected } = setup(
    [answer(401), OK],
    [
      { kind: 'token', token: 'old' },
      { kind: 'token', token: 'new' },
    ],
    { token: () => PLAN },
  );
  expect((await run()).verdict).toEqual({ kind: 'delivered' });
  expect(sent.map(({ headers }) => [headers.token, headers.attempt])).toEqual([
    ['old', '3'],
    ['new', '3'],
  ]);
  expect(rejected).toEqual(['old']);
});

test('a fresh token that is not accepted either is an ordinary failure', async () => {
  const tokens: TokenResult[] = [
    { kind: 'token', token: 'old' },
    { kind: 'token', token: 'new' },
  ];
  const { run, sent } = setup([answer(401), answer(401)], tokens, { token: () => PLAN });
  expect(await run()).toMatchObject({ verdict: { kind: 'unavailable', reason: 'http_401' }, status: 401 });
  expect(sent).toHaveLength(2);
});

test.each<[TokenResult]>([
  [{ kind: 'refused', reason: 'token endpoint: http_400 invalid_grant' }],
  [{ kind: 'unavailable', reason: 'token endpoint: http_503', retry_after_ms: 9_000 }],
])('without a token nothing is sent: %o', async (token) => {
  const { run, sent } = setup([OK], [token], { token: () => PLAN });
  expect(await run()).toMatchObject({ verdict: token, status: null });
  expect(sent).toHaveLength(0);
});

test.each<[string, SendResult, Verdict]>([
  [
    'a network error',
    { kind: 'failed', error: 'ECONNRESET', permanent: false, duration_ms: 1 },
    { kind: 'unavailable', reason: 'ECONNRESET' },
  ],
  [
    'a refused destination',
    { kind: 'failed', error: 'not public', permanent: true, duration_ms: 1 },
    { kind: 'refused', reason: 'not public' },
  ],
  [
    'Retry-After that the rules overlook',
    answer(503, { 'retry-after': '30' }),
    { kind: 'unavailable', reason: 'http_503', retry_after_ms: 30_000 },
  ],
  ['Retry-After that says nothing', answer(503, { 'retry-after': '-1' }), { kind: 'unavailable', reason: 'http_503' }],
])('%s', async (_name, sent, verdict) => {
  expect((await setup([sent], []).run()).verdict).toEqual(verdict);
});

test('an exception while reading a response is a failure that is retried', async () => {
  const { run } = setup([OK], [], {
    read: () => {
      throw new Error('no such path');
    },
  });
  expect(await run()).toMatchObject({ verdict: { kind: 'unavailable', reason: 'the response cannot be read: no such path' }, status: 200 });
});
