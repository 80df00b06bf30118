import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';

export interface KeyPair {
  privatePem: string;
  publicPem: string;
}
export function rsaKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** The claims of a token whose RS256 signature and times are right; undefined otherwise. */
export function verifiedClaims(token: string, publicPem: string): Record<string, unknown> | undefined {
  const [header = '', claims = '', signature = ''] = token.split('.');
  const signed = Buffer.from(`${header}.${claims}`);
  const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
  if ((decode(header) as { alg?: string }).alg !== 'RS256') return undefined;
  if (!verify('RSA-SHA256', signed, createPublicKey(publicPem), Buffer.from(signature, 'base64url'))) return undefined;
  const found = decode(claims);
  const now = Date.now() / 1000;
  const { iat, exp } = found as { iat?: number; exp?: number };
  return iat !== undefined && exp !== undefined && iat <= now + 60 && exp > now && exp - iat <= 3_600 ? found : undefined;
}
