import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Challenge tokens are self-contained: the pipeline and the expiry, signed. Nothing is stored, and any process with SECRET_KEY can verify
 * one. `key` is `deriveKey(SECRET_KEY, 'challenge-token')`.
 */
export function issueChallengeToken(key: Buffer, pipelineId: string, expiresAtMs: number): string {
  return `ct_${expiresAtMs.toString(36)}.${signature(key, pipelineId, expiresAtMs)}`;
}

/** False if the token is malformed, altered, expired or issued for another pipeline. */
export function verifyChallengeToken(key: Buffer, token: unknown, pipelineId: string, nowMs: number): boolean {
  const match = typeof token === 'string' && token.length <= 100 ? /^ct_([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/.exec(token) : null;
  if (match === null) return false;
  const [, expiry = '', given = ''] = match;
  const expiresAtMs = Number.parseInt(expiry, 36);
  // Compare as text: the last of 43 characters has two spare bits, so four texts decode to the same bytes.
  const right = Buffer.from(signature(key, pipelineId, expiresAtMs));
  return timingSafeEqual(Buffer.from(given), right) && nowMs < expiresAtMs;
}

function signature(key: Buffer, pipelineId: string, expiresAtMs: number): string {
  return createHmac('sha256', key).update(`${pipelineId}\n${expiresAtMs}`).digest('base64url');
}
