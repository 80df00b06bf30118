import { randomBytes } from 'node:crypto';
import { deriveKey } from './keys.ts';
import { seal, unseal } from './seal.ts';

/**
 * Encrypts the store's secrets. Every organisation has its own data key, stored wrapped under SECRET_KEY: rotating SECRET_KEY rewraps the
 * data keys and leaves the sealed values unchanged.
 */
export interface Cipher {
  newDataKey(orgId: string): string;
  sealText(org: KeyedOrganisation, plain: string): string;
  /** Throws if another key sealed it: the installation is misconfigured. */
  openText(org: KeyedOrganisation, sealed: string): string;
  /** Whether the data key was wrapped under this SECRET_KEY. */
  opens(org: KeyedOrganisation): boolean;
  rewrap(org: KeyedOrganisation, next: Cipher): string;
  /** Keys the organisation's audit chain. Derived from the data key, so it survives a rotation of SECRET_KEY. */
  auditKey(org: KeyedOrganisation): Buffer;
  wrap(orgId: string, dataKey: Buffer): string;
}
export interface KeyedOrganisation {
  id: string;
  data_key: string;
}

export class WrongSecretKey extends Error {
  constructor(orgId: string) {
    super(`SECRET_KEY is not the key that wrapped the data key of ${orgId}.`);
  }
}

const DATA_KEY_BYTES = 32;

export function createCipher(secretKey: string): Cipher {
  const master = deriveKey(secretKey, 'wrap-data-keys');
  // Cache of unwrapped keys. Safe because the wrapped text determines the key; bounded because organisations come and go.
  const unwrapped = new Map<string, Buffer>();
  function dataKey({ id, data_key }: KeyedOrganisation): Buffer | undefined {
    const cacheKey = `${id} ${data_key}`;
    const kept = unwrapped.get(cacheKey);
    if (kept !== undefined) return kept;
    const key = unseal(master, `data-key ${id}`, data_key);
    if (key === undefined) return undefined;
    if (unwrapped.size >= 10_000) unwrapped.clear();
    unwrapped.set(cacheKey, key);
    return key;
  }
  function requireKey(org: KeyedOrganisation): Buffer {
    const key = dataKey(org);
    if (key === undefined) throw new WrongSecretKey(org.id);
    return key;
  }
  const wrap = (orgId: string, key: Buffer) => seal(master, `data-key ${orgId}`, key);
  return {
    wrap,
    newDataKey: (orgId) => wrap(orgId, randomBytes(DATA_KEY_BYTES)),
    sealText: (org, plain) => seal(requireKey(org), org.id, Buffer.from(plain)),
    openText(org, sealed) {
      const plain = unseal(requireKey(org), org.id, sealed);
      if (plain === undefined) throw new WrongSecretKey(org.id);
      return plain.toString('utf8');
    },
    opens: (org) => dataKey(org) !== undefined,
    auditKey: (org) => deriveKey(requireKey(org), 'audit-chain'),
    rewrap: (org, next) => next.wrap(org.id, requireKey(org)),
  };
}
