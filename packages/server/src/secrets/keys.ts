import { hkdfSync } from 'node:crypto';

export type KeyUse = 'access-token' | 'challenge-token' | 'wrap-data-keys';

/** SECRET_KEY is any text; each use gets a key of its own, so that no token can stand in for another. */
export function deriveKey(secretKey: string, use: KeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'firsthand/v1', use, 32));
}
