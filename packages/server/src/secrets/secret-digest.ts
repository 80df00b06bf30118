import { createHmac } from 'node:crypto';
import { deriveKey } from './keys.ts';

/** Replaces a secret that must be recognised but not stored. Without SECRET_KEY nobody can test guesses against it. */
export type SecretDigest = (secret: string) => string;

export function createSecretDigest(secretKey: string): SecretDigest {
  const key = deriveKey(secretKey, 'kept-secret');
  return (secret) => createHmac('sha256', key).update(secret).digest('hex');
}
