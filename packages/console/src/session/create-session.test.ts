import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSession, type Session, type SessionState } from './create-session.ts';

const USER = { id: 'usr_1', org_id: 'org_1', email: 'ann@shop.example', name: 'Ann', role: 'editor' as const };
const REFRESH = 'POST /v1/admin/auth/session/refresh';
const SIGN_IN = 'POST /v1/admin/auth/session';
const SIGN_OUT = 'DELETE /v1/admin/auth/session';
const ME = 'GET /v1/admin/users/me';

/** What the service answers by method and path; undefined: no answer. */
let answers: Record<string, { status: number; body?: unknown } | undefined>;
let asked: string[];
let told: unknown[];
let session: Session;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  told = [];
  answers = {
    [REFRESH]: { status: 200, body: { access_token: 'token', expires_in: 900 } },
    [SIGN_IN]: { status: 200, body: { access_token: 'token', expires_in: 900 } },
    [SIGN_OUT]: { status: 204 },
    [ME]: { status: 200, body: USER },
  };
  vi.stubGlobal('fetch', async (path: string, { method = 'GET' }: RequestInit) => {
    asked.push(`${method} ${path}`);
    const answer = answers[`${method} ${path}`];
    if (answer === undefined) throw new TypeError('fetch failed');
    return new Response(answer.body === undefined ? null : JSON.stringify(answer.body), { status: answer.status });
  });
  session = createSession({ onmessage: null, postMessage: (message) => void told.push(message) });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
const isSignedIn = () => expect(session.get()).toMatchObject({ status: 'signed_in', user: USER });

test.each([
  ['is limited', { status: 429, body: {} }],
  ['is refused by an overloaded service', { status: 503, body: {} }],
  ['gets no answer', undefined],
])('a silent refresh whose question “who am I” %s keeps the user and is tried again', async (_how, answer) => {
  await session.resume();
  answers[ME] = answer;
  await vi.advanceTimersByTimeAsync(850_000);
  isSignedIn();
  const before = asked.length;
  answers[ME] = { status: 200, body: USER };
  await vi.advanceTimersByTimeAsync(5_000);
  expect(asked.slice(before)).toEqual([REFRESH, ME]);
  isSignedIn();
});

test('a token is replaced before it expires, again and again', async () => {
  await session.resume();
  for (let time = 1; time <= 3; time++) {
    answers[REFRESH] = { status: 200, body: { access_token: `token ${time}`, expires_in: 900 } };
    await vi.advanceTimersByTimeAsync(845_000);
    expect(session.get()).toMatchObject({ token: `token ${time}` });
  }
});

test('a page that is loaded while the service is away says so, and goes on by itself', async () => {
  answers[ME] = undefined;
  await session.resume();
  expect(session.get()).toMatchObject({ status: 'signed_out', reason: expect.stringContaining('cannot be reached') });
  answers[ME] = { status: 200, body: USER };
  await vi.advanceTimersByTimeAsync(5_000);
  isSignedIn();
});

test('a page that is loaded after too many requests says so without asking for a password, and goes on by itself', async () => {
  answers[ME] = { status: 429, body: {} };
  await session.resume();
  expect(session.get()).toEqual({ status: 'unknown', waiting: expect.stringContaining('too many requests') });
  answers[ME] = { status: 200, body: USER };
  await vi.advanceTimersByTimeAsync(5_000);
  isSignedIn();
});

test('a session that the service refuses keeps its user, so that their page stays behind the sign-in', async () => {
  await session.resume();
  answers[ME] = { status: 401, body: {} };
  await vi.advanceTimersByTimeAsync(850_000);
  expect(session.get()).toMatchObject({ status: 'signed_out', user: USER, reason: expect.any(String) } satisfies Partial<SessionState>);
});

test('a sign-in that is cut off in the middle is answered, and can be repeated', async () => {
  answers[ME] = undefined;
  expect(await session.signIn(USER.email, 'secret')).toMatchObject({ ok: false, error: { code: 'UNAVAILABLE' } });
  answers[ME] = { status: 200, body: USER };
  expect(await session.signIn(USER.email, 'secret')).toEqual({ ok: true });
  isSignedIn();
});

test.each([
  ['gets no answer', undefined],
  ['is refused', { status: 503, body: {} }],
])('a sign-out that %s does not pretend to be done', async (_how, answer) => {
  await session.resume();
  answers[SIGN_OUT] = answer;
  expect(await session.signOut()).toBe(false);
  isSignedIn();
  expect(told).not.toContainEqual({ kind: 'signed_out' });
  answers[SIGN_OUT] = { status: 204 };
  expect(await session.signOut()).toBe(true);
  expect(session.get()).toEqual({ status: 'signed_out' });
  expect(told).toContainEqual({ kind: 'signed_out' });
});
