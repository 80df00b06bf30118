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
  | { status: 'unknown' }
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

let state: SessionState = { status: 'unknown' };
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const tabs = new BroadcastChannel('firsthand-session');

export const session = {
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
    if (answer === undefined) return { ok: false, error: { code: 'UNAVAILABLE', message: 'The service cannot be reached.' } };
    const body: unknown = await answer.json().catch(() => undefined);
    if (!answer.ok)
      return {
        ok: false,
        error: (body as ErrorBody | undefined)?.error ?? { code: 'UNAVAILABLE', message: 'The service did not answer.' },
      };
    await take(body as TokenAnswer, true);
    return { ok: true };
  },
  async signOut(everywhere = false): Promise<void> {
    const token = state.status === 'signed_in' ? state.token : undefined;
    await fetch(`${SESSION_PATH}${everywhere ? '?everywhere=true' : ''}`, {
      method: 'DELETE',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    }).catch(() => undefined);
    tabs.postMessage({ kind: 'signed_out' });
    set({ status: 'signed_out' });
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

async function refresh(rejected?: string): Promise<void> {
  await alone(async () => {
    // Another tab may have refreshed while this one waited for the lock.
    if (state.status === 'signed_in' && state.token !== rejected && state.expiresAt - Date.now() > AHEAD_MS / 2) return;
    const answer = await post(`${SESSION_PATH}/refresh`, {});
    if (answer?.ok) return take((await answer.json()) as TokenAnswer, true);
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) {
      const user = userOf(state);
      set(
        user === undefined
          ? { status: 'signed_out' }
          : { status: 'signed_out', reason: 'Your session has ended. Sign in to go on where you were.', user },
      );
      return;
    }
    // The service is away: keep what we have and try again soon.
    if (state.status === 'unknown')
      set({ status: 'signed_out', reason: 'The service cannot be reached. It is tried again when you sign in.' });
    schedule(5_000);
  });
}

/**
 * One tab at a time. Browsers offer locks on https and localhost only; elsewhere each tab refreshes by itself, and the service's grace
 * for a cookie that was just rotated keeps both signed in.
 */
function alone(work: () => Promise<void>): Promise<void> {
  const locks = (navigator as { locks?: LockManager }).locks;
  return locks === undefined ? work() : locks.request(LOCK, work);
}

async function take({ access_token, expires_in }: TokenAnswer, tellTabs: boolean): Promise<void> {
  const answer = await fetch('/v1/admin/users/me', { headers: { authorization: `Bearer ${access_token}` } });
  if (!answer.ok) return set({ status: 'signed_out', reason: 'The service did not say who you are. Sign in again.' });
  const user = (await answer.json()) as User;
  adopt(access_token, Date.now() + expires_in * 1000, user);
  if (tellTabs) tabs.postMessage({ kind: 'signed_in', token: access_token, expiresAt: Date.now() + expires_in * 1000, user });
}
function adopt(token: string, expiresAt: number, user: User): void {
  const before = userOf(state);
  // Somebody else: nothing of the page before may stay.
  if (before !== undefined && before.id !== user.id) location.reload();
  set({ status: 'signed_in', token, expiresAt, user });
  schedule(Math.max(1_000, expiresAt - Date.now() - AHEAD_MS));
}
/** Who is signed in, or was until their session ended. */
export function userOf(now: SessionState): User | undefined {
  return now.status === 'unknown' ? undefined : now.user;
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
async function post(path: string, body: object): Promise<Response | undefined> {
  try {
    return await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  } catch {
    return undefined; // offline, or the service is down: callers treat it as "no answer"
  }
}

type TabMessage = { kind: 'signed_out' } | { kind: 'signed_in'; token: string; expiresAt: number; user: User };
tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data.kind === 'signed_out') set({ status: 'signed_out' });
  else adopt(data.token, data.expiresAt, data.user);
};
