/** Time-based one-time passwords (RFC 6238) as authenticator apps expect them: SHA-1, six digits, 30 seconds. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const SECRET_BYTES = 20;
/** Clocks of phones are off by some seconds, and people type slowly. */
const STEPS_AROUND = [0, -1, 1];
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const RECOVERY_CODES = 10;

export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

/** The step that the code belongs to; undefined for a wrong code. */
export function matchingStep(secret: Buffer, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = stepAt(nowMs);
  return STEPS_AROUND.map((around) => now + around).find((step) => timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(code)));
}

export function newTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES));
}
/** Undefined unless the text is a secret of 20 bytes. */
export function readTotpSecret(text: string): Buffer | undefined {
  if (!/^[A-Z2-7]{32}$/.test(text)) return undefined;
  const bits = [...text].map((char) => BASE32.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
export function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

export function otpauthUrl(email: string, secret: string): string {
  const query = new URLSearchParams({ secret, issuer: 'Firsthand', algorithm: 'SHA1', digits: '6', period: '30' });
  return `otpauth://totp/Firsthand:${encodeURIComponent(email)}?${query}`;
}

/** 80 random bits each, in groups of four: `k7m2-…`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    toBase32(randomBytes(10))
      .toLowerCase()
      .replace(/(.{4})(?=.)/g, '$1-'),
  );
}
export function recoveryCodeHash(userId: string, code: string): string {
  return createHash('sha256')
    .update(`${userId}\0${code.toLowerCase().replace(/[^a-z2-7]/g, '')}`)
    .digest('hex');
}
