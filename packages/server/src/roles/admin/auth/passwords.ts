import { hash, verify } from '@node-rs/argon2';
import { ApiError } from '../../../http/errors.ts';

/** Argon2id is the package's default algorithm; a test looks at the hashes it makes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Each hash takes 19 MB and a core for some tens of milliseconds. */
const AT_ONCE = 2;
const MOST_WAITING = 64;

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 1_000;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING)
      throw new ApiError('UNAVAILABLE', { message: 'Too many logins at once: try again soon.', retryAfterS: 2 });
    // Whoever finishes hands over its place, so nobody can slip in between.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next !== undefined) next();
    else running -= 1;
  }
}

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, OPTIONS));
}

let dummy: Promise<string> | undefined;

/** Takes as long for an address nobody has: its password is compared with one that nothing matches. */
export async function passwordMatches(stored: string | undefined, password: string): Promise<boolean> {
  dummy ??= hashPassword('no account has this password, it only takes as long');
  const against = stored ?? (await dummy);
  const matches = await inTurn(() => verify(against, password));
  return matches && stored !== undefined;
}
