import { createHmac, createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { checkSignature } from './request-signature.ts';

const NOW = Date.parse('2026-05-01T12:00:00.000Z');
const SECRET = 'sk_secret';
const BODY = Buffer.from('{"type":"track"}');
const sign = (timestamp: string, body: Buffer = BODY, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
const rules = (requireSignature: boolean) => ({ requireSignature, signingKey: createSecretKey(Buffer.from(SECRET)) });
const at = String(NOW);

const CASES: [name: string, headers: Record<string, string>, required: boolean, result: RegExp | 'accepted'][] = [
  ['no signature, none required', {}, false, 'accepted'],
  ['no signature', {}, true, /signature is missing: send X-Timestamp and X-Signature/],
  ['a timestamp only', { 'x-timestamp': at }, false, /missing: X-Timestamp came without X-Signature/],
  ['a signature only', { 'x-signature': sign(at) }, false, /missing its time/],
  ['a bare hex signature', { 'x-timestamp': at, 'x-signature': sign(at).slice(7) }, false, /malformed: X-Signature/],
  ['a short signature', { 'x-timestamp': at, 'x-signature': 'sha256=abc' }, false, /malformed: X-Signature/],
  ['an ISO timestamp', { 'x-timestamp': '2026-05-01T12:00:00Z', 'x-signature': sign(at) }, false, /malformed: X-Timestamp/],
  ['301 s old', { 'x-timestamp': String(NOW - 301_000), 'x-signature': sign(String(NOW - 301_000)) }, true, /stale/],
  ['301 s ahead', { 'x-timestamp': String(NOW + 301_000), 'x-signature': sign(String(NOW + 301_000)) }, true, /stale/],
  ['another secret', { 'x-timestamp': at, 'x-signature': sign(at, BODY, 'sk_other') }, true, /wrong/],
  ['another body', { 'x-timestamp': at, 'x-signature': sign(at, Buffer.from('{}')) }, true, /wrong/],
  ['another timestamp', { 'x-timestamp': at, 'x-signature': sign(String(NOW - 1)) }, true, /wrong/],
  ['milliseconds', { 'x-timestamp': at, 'x-signature': sign(at) }, true, 'accepted'],
  ['seconds', { 'x-timestamp': String(NOW / 1_000), 'x-signature': sign(String(NOW / 1_000)) }, true, 'accepted'],
  ['capital hex', { 'x-timestamp': at, 'x-signature': `sha256=${sign(at).slice(7).toUpperCase()}` }, true, 'accepted'],
];
test.each(CASES)('%s', (_name, headers, required, result) => {
  const check = checkSignature(headers, rules(required), [BODY], NOW);
  if (result === 'accepted') expect(check.kind).toBe('accepted');
  else expect(check.kind === 'rejected' ? check.message : check.kind).toMatch(result);
});
