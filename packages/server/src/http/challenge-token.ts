import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Challenge tokens carry their own proof: the pipeline and the time they end, signed. Nothing is stored, and any process that has
 * SECRET_KEY can check one. `key` is `deriveKey(SECRET_KEY, 'challenge-token')`.
 */
export function issueChallengeToken(key: Buffer, pipelineId: string, expiresAtMs: number): string {
  return `ct_${expiresAtMs.toString(36)}.${signature(key, pipelineId, expiresAtMs)}`;
}

/** False for a token that is no token, is altered, has expired or is another pipeline's. */
export function verifyChallengeToken(key: Buffer, token: unknown, pipelineId: string, nowMs: number): boolean {
  const match = typeof token === 'string' && token.length <= 100 ? /^ct_([0-9a-z]{1,11})\.([A-Za-z0-9_-]{43})$/.exec(token) : null;
  if (match === null) return false;
  const expiresAtMs = Number.parseInt(match[1]!, 36);
  // As text: the last character of 43 has two bits to spare, so that four texts would stand for the same bytes.
  const right = Buffer.from(signature(key, pipelineId, expiresAtMs));
  return timingSafeEqual(Buffer.from(match[2]!), right) && nowMs < expiresAtMs;
}

function signature(key: Buffer, pipelineId: string, expiresAtMs: number): string {
  return createHmac('sha256', key).update(`${pipelineId}\n${expiresAtMs}`).digest('base64url');
}
