import { hkdfSync } from 'node:crypto';

export type KeyUse =
  | 'access-token'
  | 'audit-chain'
  | 'challenge-token'
  | 'kept-secret'
  | 'local-copy'
  | 'oidc-request'
  | 'rotated-token'
  | 'wrap-data-keys';

/** Each use gets its own key, so that a token issued for one use is worthless for another. */
export function deriveKey(secret: string | Buffer, use: KeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'firsthand/v1', use, 32));
}
