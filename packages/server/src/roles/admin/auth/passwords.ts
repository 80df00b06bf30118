import { randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { type HashClient, HashQueue } from './hash-queue.ts';

/** Argon2id is the package's default algorithm; a test inspects the stored hashes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hash of 32 discarded random bytes, with the same options: no password matches it. */
const NO_PASSWORD = '$argon2id$v=19$m=19456,t=2,p=1$//8QAsIeNXmDCrZgTdmL4g$x/scDEXhUTfvLSH9Qy46t6DCEJEZ5ayzVqqEYVzEZDQ';

/** Stored for users who sign in through an identity provider: no password matches. */
export const WITHOUT_PASSWORD = '!';

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 1_000;

/** No signs, which a shell or a double click may take apart, and no letters that look like another. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const GENERATED = 24;
/** 140 random bits. */
export function generatePassword(): string {
  return Array.from({ length: GENERATED }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

const queue = new HashQueue();

/**
 * For callers that are already authenticated, and for the command line. `party` (the organisation) takes turns with others as a network of
 * strangers does: one that sets many passwords at once uses up no place of people who sign in.
 */
export function hashPassword(password: string, party: string): Promise<string> {
  return queue.run({ ip: party, known: false }, () => hash(password, OPTIONS));
}

/** An unknown account costs one comparison too, so that response time does not reveal which accounts exist. */
export async function passwordMatches(stored: string | undefined, password: string, client: HashClient): Promise<boolean> {
  const hashed = stored === WITHOUT_PASSWORD ? undefined : stored;
  const matches = await queue.run(client, () => verify(hashed ?? NO_PASSWORD, password));
  return matches && hashed !== undefined;
}
