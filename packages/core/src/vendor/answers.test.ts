import { expect, test } from 'vitest';
import { compileAnswers } from './answers.ts';
import type { VendorItem, Verdict } from './compiled.ts';
import type { AnswerRule } from './definition.ts';

const items = (count: number): VendorItem[] =>
  Array.from({ length: count }, (_, i) => ({ lane: '0', payload: null, size: 1, event_id: `e${i}` }));
const read = (
  rules: AnswerRule[],
  reply: { status: number; body?: unknown; headers?: Record<string, string> },
  count = 1,
  token = false,
): Verdict => {
  const faults: never[] = [];
  const answer = compileAnswers(rules, { where: 'answers', has_token: token, scrub: (text) => text.replace('s3cret', '••••') }, faults);
  expect(faults).toEqual([]);
  const body = typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body);
  return answer({ status: reply.status, headers: reply.headers ?? {}, body }, items(count), { now: 0 });
};

test.each([
  [200, { kind: 'delivered' }],
  [204, { kind: 'delivered' }],
  [301, { kind: 'refused', reason: 'http_301' }],
  [400, { kind: 'refused', reason: 'http_400' }],
  [401, { kind: 'refused', reason: 'http_401' }],
  [408, { kind: 'refused', reason: 'http_408' }],
  [429, { kind: 'unavailable', reason: 'http_429' }],
  [500, { kind: 'unavailable', reason: 'http_500' }],
  [599, { kind: 'unavailable', reason: 'http_599' }],
])('without rules %i', (status, verdict) => {
  expect(read([], { status })).toEqual(verdict);
});

test('a token that is no longer good is renewed', () => {
  expect(read([], { status: 401 }, 1, true)).toEqual({ kind: 'unavailable', reason: 'http_401', refresh_token: true });
});

test('the vendor’s words are short, on one line and without secrets', () => {
  expect(read([], { status: 400, body: { error: { message: 'token s3cret\n is   bad' } } })).toEqual({
    kind: 'refused',
    reason: 'http_400: token •••• is bad',
  });
  expect((read([], { status: 400, body: 'x'.repeat(5_000) }) as { reason: string }).reason.length).toBe(310);
  expect(read([], { status: 400, body: '{"broken' })).toEqual({ kind: 'refused', reason: 'http_400: {"broken' });
});

test('the first rule that fits decides', () => {
  const rules: AnswerRule[] = [
    { status: ['4xx'], when: { field: 'body.code', op: 'eq', value: 7 }, verdict: 'delivered' },
    { status: [418, '2xx'], verdict: 'refused', reason: 'body.why' },
    { status: [404], verdict: 'unavailable', retry_after: { path: 'body.wait' } },
    { status: [403], verdict: 'unavailable', retry_after: { ms: 500 } },
    { status: [402], verdict: 'refresh_token' },
  ];
  expect(read(rules, { status: 418, body: { code: 7 } })).toEqual({ kind: 'delivered' });
  expect(read(rules, { status: 418, body: { why: 'teapot' } })).toEqual({ kind: 'refused', reason: 'http_418: teapot' });
  expect(read(rules, { status: 404, body: { wait: 3 } })).toMatchObject({ kind: 'unavailable', retry_after_ms: 3_000 });
  expect(read(rules, { status: 403 })).toMatchObject({ retry_after_ms: 500 });
  expect(read(rules, { status: 403, headers: { 'retry-after': '2' } })).toMatchObject({ retry_after_ms: 2_000 });
  expect(read(rules, { status: 402 })).toMatchObject({ refresh_token: true });
});

test('isolate: several items are tried alone, one is refused', () => {
  const rules: AnswerRule[] = [{ status: [400], verdict: 'refused', isolate: true }];
  expect(read(rules, { status: 400 }, 2)).toEqual({ kind: 'unavailable', reason: 'http_400', isolate: true });
  expect(read(rules, { status: 400 }, 1)).toEqual({ kind: 'refused', reason: 'http_400' });
});

test('partial: indexes out of range, repeated or strange are passed over; nobody named leaves it to the next rule', () => {
  const rules: AnswerRule[] = [
    { verdict: 'partial', partial: { errors: 'body.errors', index: 'i', reason: 'm', failed: 'refused', others: 'delivered' } },
  ];
  const body = { errors: [{ i: '1', m: 'one' }, { i: 9 }, { i: -1 }, { i: 1.5 }, { i: 1, m: 'again' }, null, 'x'] };
  expect(read(rules, { status: 200, body }, 3)).toEqual({
    kind: 'partial',
    items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_200: one' }, { kind: 'delivered' }],
  });
  expect(read(rules, { status: 200, body: { errors: [{ i: 9 }] } }, 3)).toEqual({ kind: 'delivered' });
  expect(read(rules, { status: 200, body: 'no JSON' }, 3)).toEqual({ kind: 'delivered' });
});

test.each<[name: string, results: string, body: unknown, failed: number[]]>([
  ['an empty entry keeps its place', 'body.r', { r: [null, { error: 'bad' }, null] }, [1]],
  ['an entry that lacks the field too', 'body.r[*].result', { r: [{}, { result: { error: 'bad' } }, {}] }, [1]],
  ['an entry that is a list stays one', 'body.r', { r: [[], [{ error: 'bad' }], { error: 'bad' }] }, [2]],
  ['lists in lists are one list', 'body.groups[*].r[*]', { groups: [{ r: [{}] }, { r: [{}, { error: 'bad' }] }] }, [2]],
])('partial by results: %s', (_name, results, body, failed) => {
  const accepted = { field: 'error', op: 'not_exists' } as const;
  const rules: AnswerRule[] = [{ verdict: 'partial', partial: { results, accepted, failed: 'refused', others: 'delivered' } }];
  const verdict = read(rules, { status: 200, body }, 3);
  const kinds = verdict.kind === 'partial' ? verdict.items.map(({ kind }) => kind) : verdict.kind;
  expect(kinds).toEqual([0, 1, 2].map((index) => (failed.includes(index) ? 'refused' : 'delivered')));
});

test('faults of rules have their path', () => {
  const faults: { field: string }[] = [];
  compileAnswers(
    [
      {
        status: ['2x'],
        when: { field: 'a', op: 'like' as never },
        reason: 'a..b',
        verdict: 'partial',
        partial: { errors: '[', failed: 'refused', others: 'delivered' },
      },
    ],
    { where: 'answers', has_token: false, scrub: (text) => text },
    faults as never,
  );
  expect(faults.map(({ field }) => field)).toEqual([
    'answers[0].status[0]',
    'answers[0].when.op',
    'answers[0].reason',
    'answers[0].partial.errors',
  ]);
});

test('failed items of a partial answer that will never be accepted are refused', () => {
  const rules: AnswerRule[] = [
    {
      verdict: 'partial',
      partial: {
        errors: 'body.failed',
        index: 'at',
        reason: 'why',
        failed: 'unavailable',
        permanent: { field: 'fault', op: 'eq', value: true },
        others: 'delivered',
      },
    },
  ];
  const failed = [
    { at: 0, why: 'busy', fault: false },
    { at: 2, why: 'bad', fault: true },
  ];
  expect(read(rules, { status: 200, body: { failed } }, 3)).toEqual({
    kind: 'partial',
    items: [{ kind: 'unavailable', reason: 'http_200: busy' }, { kind: 'delivered' }, { kind: 'refused', reason: 'http_200: bad' }],
  });
});
