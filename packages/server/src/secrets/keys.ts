import { hkdfSync } from 'node:crypto';

export type KeyUse = 'access-token' | 'challenge-token' | 'rotated-token' | 'wrap-data-keys';

/** A secret is any text; each use gets a key of its own, so that no token can stand in for another. */
export function deriveKey(secret: string, use: KeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'firsthand/v1', use, 32));
}
