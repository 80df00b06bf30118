import type { SecretDigest } from '../../secrets/secret-digest.ts';

/** The digest that stands for a source's shared secret in a kept request. Another source's digest of the same secret differs. */
export function keptSecretOf(digestSecret: SecretDigest, sourceId: string): (secret: string) => string {
  return (secret) => digestSecret(`${sourceId}\n${secret}`);
}
