/** JSON Web Tokens (RFC 7519), signed with the customer's own key. */
import { hmacSha256, toBase64 } from '../hash/hash.ts';
import type { KeyOperations } from './auth.ts';
import { utf8 } from './bytes.ts';
import type { JwtPlan } from './compiled.ts';

const FINGERPRINT = /\{\{\s*key\.fingerprint\s*\}\}/g;

/** Signs a token, or throws if the key does not parse. Without `keys` the signature is empty: previews need no valid token. */
export function signJwt(plan: JwtPlan, now: number, keys: KeyOperations | undefined): string {
  const iat = Math.floor(now / 1000);
  const header = { alg: plan.algorithm, typ: 'JWT', ...(plan.key_id === undefined ? {} : { kid: plan.key_id }) };
  const claims: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(plan.claims)) claims[name] = text.replace(FINGERPRINT, () => fingerprint(plan, keys));
  const signed = `${encodeJson(header)}.${encodeJson({ ...claims, iat, exp: iat + plan.lifetime_s })}`;
  return `${signed}.${base64url(signatureOf(plan, utf8(signed), keys))}`;
}

function signatureOf({ algorithm, private_key }: JwtPlan, data: Uint8Array, keys: KeyOperations | undefined): Uint8Array {
  if (algorithm === 'HS256') return hmacSha256(private_key, data);
  return keys ? keys.sign(algorithm, private_key, data) : new Uint8Array(0);
}

function fingerprint({ private_key }: JwtPlan, keys: KeyOperations | undefined): string {
  return keys ? `SHA256:${toBase64(keys.fingerprint(private_key))}` : 'SHA256:';
}

/** Keeps a token until the last tenth of its lifetime. `keys` must accept the plan's key: see `parses`. */
export function jwtSigner(plan: JwtPlan, keys: KeyOperations | undefined): (now: number) => string {
  let token = '';
  let until = Number.NEGATIVE_INFINITY;
  return (now) => {
    if (now < until && now >= until - plan.lifetime_s * 1000) return token;
    token = signJwt(plan, now, keys);
    until = now + plan.lifetime_s * 900;
    return token;
  };
}

/** Whether the plan's key can sign. The error itself is not passed on: it may quote the key. */
export function parses(plan: JwtPlan, keys: KeyOperations): boolean {
  try {
    signJwt(plan, 0, keys);
    return true;
  } catch {
    return false;
  }
}

function encodeJson(value: unknown): string {
  return base64url(utf8(JSON.stringify(value)));
}

function base64url(bytes: Uint8Array): string {
  return toBase64(bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/={1,2}$/, '');
}
