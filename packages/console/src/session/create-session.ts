/**
 * The signed-in user of this page. The refresh token lives in an HttpOnly cookie that no script can read; the access token
 * lives in this module's memory. Tabs share access tokens over a BroadcastChannel and refresh one at a time under a lock,
 * so two tabs never present the same refresh token at once.
 */
import type { components } from '../generated/api.d.ts';

export type Role = 'viewer' | 'editor' | 'admin' | 'owner';
export interface User {
  id: string;
  org_id: string;
  email: string;
  name: string;
  role: Role;
}
export type SessionState =
  /** `waiting`: why it takes longer. */
  | { status: 'unknown'; waiting?: string }
  /** `user`: whose session ended. Their page stays as it is behind the sign-in, so that nothing typed is lost. */
  | { status: 'signed_out'; reason?: string; user?: User }
  | { status: 'signed_in'; token: string; expiresAt: number; user: User };

interface TokenAnswer {
  access_token: string;
  expires_in: number;
}
export type ErrorBody = components['schemas']['Error'];

const SESSION_PATH = '/v1/admin/auth/session';
const LOCK = 'firsthand-session';
/** Refresh this long before the access token expires, so that no request is refused in between. */
const AHEAD_MS = 60_000;
const TRY_AGAIN_MS = 5_000;
/** A request that has no answer by then counts as not answered. Not for refreshes: their answer carries the new cookie. */
const ANSWER_MS = 15_000;
const LIMITED = 'You made too many requests within a minute. It is tried again every few seconds.';
const NO_ANSWER: ErrorBody['error'] = { code: 'UNAVAILABLE', message: 'The service cannot be reached. Try again.' };

export type TabMessage = { kind: 'signed_out' } | { kind: 'signed_in'; token: string; expiresAt: number; user: User };
/** What of a `BroadcastChannel` is used. */
export interface Tabs {
  onmessage: ((event: MessageEvent<TabMessage>) => void) | null;
  postMessage(message: TabMessage): void;
}
export type Session = ReturnType<typeof createSession>;

export function createSession(tabs: Tabs) {
  let state: SessionState = { status: 'unknown' };
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** When the present token is due to be replaced. */
  let refreshAt = 0;
  const listeners = new Set<() => void>();

  tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'signed_out') set({ status: 'signed_out' });
    else adopt(data.token, data.expiresAt, data.user);
  };

  async function refresh(rejected?: string): Promise<void> {
    await alone(async () => {
      // Another tab may have refreshed while this one waited for the lock. Timers may fire a little early.
      if (state.status === 'signed_in' && state.token !== rejected && Date.now() < refreshAt - 1_000) return;
      const answer = await post(`${SESSION_PATH}/refresh`, {});
      if (answer !== undefined && isRefusal(answer)) return end('Your session has ended. Sign in to go on where you were.');
      const body = answer?.ok ? await bodyOf<TokenAnswer>(answer) : undefined;
      const taken = body === undefined ? (answer?.status === 429 ? 'limited' : 'no_answer') : await take(body);
      if (taken === 'refused') return end('The service did not say who you are. Sign in again.');
      if (taken === 'taken') return;
      // The service is unavailable or limits requests: keep the state and try again soon.
      if (state.status === 'unknown' && taken === 'limited') set({ status: 'unknown', waiting: LIMITED });
      else if (state.status === 'unknown')
        set({ status: 'signed_out', reason: 'The service cannot be reached. It is tried again every few seconds.' });
      schedule(TRY_AGAIN_MS);
    });
  }
  /** Nobody is signed in any more. Whoever was keeps their page behind the sign-in. */
  function end(reason: string): void {
    const user = userOf(state);
    set(user === undefined ? { status: 'signed_out' } : { status: 'signed_out', reason, user });
  }
  /** Adopts a new token once the service has said whose it is. Until then the state stays as it was. */
  async function take({ access_token, expires_in }: TokenAnswer): Promise<'taken' | 'refused' | 'limited' | 'no_answer'> {
    const answer = await request('/v1/admin/users/me', {
      headers: { authorization: `Bearer ${access_token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (answer !== undefined && isRefusal(answer)) return 'refused';
    if (answer?.status === 429) return 'limited';
    const user = answer?.ok ? await bodyOf<User>(answer) : undefined;
    if (user === undefined) return 'no_answer';
    const expiresAt = Date.now() + expires_in * 1000;
    adopt(access_token, expiresAt, user);
    tabs.postMessage({ kind: 'signed_in', token: access_token, expiresAt, user });
    return 'taken';
  }
  function adopt(token: string, expiresAt: number, user: User): void {
    const before = userOf(state);
    // Another user: no state of the previous page may stay.
    if (before !== undefined && before.id !== user.id) location.reload();
    set({ status: 'signed_in', token, expiresAt, user });
    const remaining = expiresAt - Date.now();
    const wait = Math.max(1_000, remaining - Math.min(AHEAD_MS, remaining / 2));
    refreshAt = Date.now() + wait;
    schedule(wait);
  }
  function schedule(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void refresh(), ms);
  }
  function set(next: SessionState): void {
    state = next;
    if (next.status === 'signed_out') clearTimeout(timer);
    for (const listener of listeners) listener();
  }

  return {
    get: (): SessionState => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Called once when the page loads. */
    async resume(): Promise<void> {
      await refresh();
    },
    async signIn(email: string, password: string, code?: string): Promise<{ ok: true } | { ok: false; error: ErrorBody['error'] }> {
      const answer = await post(SESSION_PATH, {
        email,
        password,
        // A code of the app is six digits; a recovery code is longer.
        ...(code === undefined ? {} : /^\d{6}$/.test(code) ? { totp_code: code } : { recovery_code: code }),
      });
      if (answer === undefined) return { ok: false, error: NO_ANSWER };
      const body = await bodyOf<TokenAnswer | ErrorBody>(answer);
      if (!answer.ok || body === undefined || 'error' in body)
        return {
          ok: false,
          error: body !== undefined && 'error' in body ? body.error : { code: 'UNAVAILABLE', message: 'The service did not answer.' },
        };
      const taken = await take(body);
      if (taken === 'taken') return { ok: true };
      if (taken === 'limited') return { ok: false, error: { code: 'RATE_LIMITED', message: 'Too many requests. Try again in a minute.' } };
      return {
        ok: false,
        error: taken === 'no_answer' ? NO_ANSWER : { code: 'UNAVAILABLE', message: 'The service did not say who you are. Sign in again.' },
      };
    },
    /** False where the service did not confirm it: the session goes on, and the user must be told. */
    async signOut(everywhere = false): Promise<boolean> {
      const token = state.status === 'signed_in' ? state.token : undefined;
      const answer = await request(`${SESSION_PATH}${everywhere ? '?everywhere=true' : ''}`, {
        method: 'DELETE',
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      if (answer?.ok !== true) return false;
      tabs.postMessage({ kind: 'signed_out' });
      set({ status: 'signed_out' });
      return true;
    },
    /** A token that is valid for the next seconds, or undefined where nobody is signed in. */
    async token(): Promise<string | undefined> {
      if (state.status === 'unknown' || (state.status === 'signed_in' && state.expiresAt - Date.now() < 5_000)) await refresh();
      return state.status === 'signed_in' ? state.token : undefined;
    },
    /** Gets a new token although the present one has not expired, after a 401. */
    async renew(rejected: string): Promise<string | undefined> {
      await refresh(rejected);
      return state.status === 'signed_in' ? state.token : undefined;
    },
  };
}

/** Neither an overloaded service nor one that is away says anything about the session. */
const isRefusal = ({ ok, status }: Response): boolean => !ok && status < 500 && status !== 429;
/**
 * One tab at a time. Browsers offer locks on https and localhost only; elsewhere each tab refreshes by itself, and the service's grace
 * for a cookie that was just rotated keeps both signed in.
 */
function alone(work: () => Promise<void>): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  return locks === undefined ? work() : locks.request(LOCK, work);
}
/** Who is signed in, or was until their session ended. */
export function userOf(now: SessionState): User | undefined {
  return now.status === 'unknown' ? undefined : now.user;
}
function post(path: string, body: object): Promise<Response | undefined> {
  return request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}
async function request(path: string, init: RequestInit): Promise<Response | undefined> {
  try {
    return await fetch(path, init);
  } catch {
    return undefined; // offline, or the service is down: callers treat it as "no answer"
  }
}
/** Undefined where the connection broke within the answer, or something else than the service answered. */
async function bodyOf<T>(answer: Response): Promise<T | undefined> {
  return (await answer.json().catch(() => undefined)) as T | undefined;
}
