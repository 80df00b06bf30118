import { ApiError } from '../../../http/errors.ts';
import type { Clock } from '../../../runtime/clock.ts';
import {
  type AttemptState,
  attemptKey,
  carryMinute,
  countAttempts,
  isKnownPlace,
  lockedUntil,
  placeKey,
  recordSuccess,
  rememberPlace,
} from '../../../stores/config/login-attempts.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { networkOf } from './client-network.ts';

/** Multiples of LOGIN_RATE_LIMIT that one client address and one network may use, over all accounts. */
const PER_CLIENT = 10;
const PER_NETWORK = 30;

/** One admitted attempt. */
export interface Attempt {
  email: string;
  key: string;
  place: string;
  /** This account signed in from this network before. */
  known: boolean;
}

/**
 * Limits sign-in attempts per e-mail address and, for strangers, per client address and network. Places where the account signed in before
 * have a limit and a lock of their own: strangers who guess, from anywhere else, cannot keep the owner out. An unknown e-mail address is
 * treated exactly like one that never signed in from here.
 */
export function createSignInLimits(deps: { db: Db; clock: Clock; settings: { loginRateLimit: number } }) {
  const { db, clock, settings } = deps;

  async function admit(email: string, ip: string): Promise<Attempt> {
    const now = clock.now();
    const network = networkOf(ip);
    const place = placeKey(email, network);
    const known = await isKnownPlace(db, place);
    if (!known) {
      const [byClient, byNetwork] = await countAttempts(db, [attemptKey('client', ip), attemptKey('network', network)], now);
      refuseAbove(byClient, settings.loginRateLimit * PER_CLIENT, now);
      refuseAbove(byNetwork, settings.loginRateLimit * PER_NETWORK, now);
    }
    const key = attemptKey(known ? 'known' : 'email', email);
    const [byEmail] = await countAttempts(db, [key], now);
    refuseAbove(byEmail, settings.loginRateLimit, now);
    refuseLocked(byEmail?.locked_until_ms ?? 0, now);
    return { email, key, place, known };
  }

  /** False if the address was locked while the password was being checked. */
  async function succeed(tx: Db, attempt: Attempt, now: number): Promise<boolean> {
    if (!(await recordSuccess(tx, attempt.key, now))) return false;
    if (!attempt.known) await carryMinute(tx, attempt.key, attemptKey('known', attempt.email));
    await rememberPlace(tx, attempt.place, now);
    return true;
  }

  async function refuseIfLocked(attempt: Attempt): Promise<void> {
    refuseLocked(await lockedUntil(db, attempt.key), clock.now());
  }

  return { admit, succeed, refuseIfLocked };
}

function refuseAbove(state: AttemptState | undefined, most: number, now: number): void {
  if (state !== undefined && state.attempts > most)
    throw new ApiError('RATE_LIMITED', { retryAfterS: (state.window_ends_ms - now) / 1000 });
}
function refuseLocked(until: number, now: number): void {
  if (until > now) throw new ApiError('ACCOUNT_LOCKED', { retryAfterS: (until - now) / 1000 });
}
