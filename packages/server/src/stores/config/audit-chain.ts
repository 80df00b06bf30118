/**
 * Computes the links of an organisation's audit chain. Chains of earlier versions are plain SHA-256: anyone who can write to the database
 * can recompute them. Keyed links are HMACs under a key that requires SECRET_KEY. The anchor, sealed under the same key, records where the
 * keyed part begins, so keyed entries cannot be replaced by plain ones.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import type { AuditLogRow } from './schema.ts';

export type AuditCipher = Pick<Cipher, 'auditKey' | 'sealText' | 'openText'>;

/** The last entry before the keyed part. */
export interface Anchor {
  seq: number;
  hash: string;
}

export interface AuditChain {
  linkHash(row: Omit<AuditLogRow, 'hash'>): string;
  headMac(head: Anchor): string;
}

const HASHED = [
  'id',
  'org_id',
  'seq',
  'user_id',
  'user_email',
  'action',
  'resource_type',
  'resource_id',
  'changes',
  'ip_address',
  'user_agent',
  'timestamp',
  'previous_hash',
] as const;
const contentOf = (row: Omit<AuditLogRow, 'hash'>) => JSON.stringify(HASHED.map((column) => row[column]));

export function keyedChain(cipher: AuditCipher, org: KeyedOrganisation): AuditChain {
  const key = cipher.auditKey(org);
  const mac = (purpose: 'link' | 'head', text: string) => createHmac('sha256', key).update(`${purpose}\n${text}`).digest('hex');
  return {
    linkHash: (row) => `hmac:${mac('link', contentOf(row))}`,
    headMac: ({ seq, hash }) => mac('head', JSON.stringify([org.id, seq, hash])),
  };
}

/** For entries up to the anchor. */
export function plainLinkHash(row: Omit<AuditLogRow, 'hash'>): string {
  return createHash('sha256').update(contentOf(row)).digest('hex');
}

export function sealAnchor(cipher: AuditCipher, org: KeyedOrganisation, anchor: Anchor): string {
  return cipher.sealText(org, JSON.stringify(['audit-anchor', anchor.seq, anchor.hash]));
}
/** Undefined if the text is not this organisation's anchor. */
export function openAnchor(cipher: AuditCipher, org: KeyedOrganisation, sealed: string): Anchor | undefined {
  try {
    const [kind, seq, hash] = JSON.parse(cipher.openText(org, sealed)) as unknown[];
    return kind === 'audit-anchor' && typeof seq === 'number' && typeof hash === 'string' ? { seq, hash } : undefined;
  } catch {
    // Sealed for another purpose, altered, or not JSON: not a valid anchor.
    return undefined;
  }
}
