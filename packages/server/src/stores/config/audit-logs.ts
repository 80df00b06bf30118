import type { JsonObject } from '@firsthand/core/json.ts';
import { newId } from '../../runtime/ids.ts';
import { turns } from '../../runtime/turns.ts';
import type { KeyedOrganisation } from '../../secrets/cipher.ts';
import { type Anchor, type AuditChain, type AuditCipher, keyedChain, openAnchor, plainLinkHash, sealAnchor } from './audit-chain.ts';
import { bytesOf, countOf, decodeInTurns, fitting, type Page, type Paged, readBoundedPage } from './paging.ts';
import type { AuditLogRow, Db } from './schema.ts';
import { storedJsonInTurns } from './stored-json.ts';

export interface AuditEntry {
  org_id: string;
  user_id: string | null;
  user_email: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changes: JsonObject;
  ip_address: string | null;
  user_agent: string | null;
}
export interface AuditLog extends AuditEntry {
  id: string;
  timestamp: string;
}

/**
 * Appends an entry to the organisation's chain. The update locks the head row, so parallel writers are serialised and the numbers have no
 * gap. Call it last in a transaction, after every other lock.
 */
export async function appendAudit(tx: Db, cipher: AuditCipher, entry: AuditEntry, now: number): Promise<void> {
  const head = await tx
    .updateTable('audit_heads')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('org_id', '=', entry.org_id)
    .returning(['seq', 'hash'])
    .executeTakeFirstOrThrow();
  const org = await anchoredOrganisation(tx, cipher, entry.org_id, { seq: head.seq - 1, hash: head.hash });
  const chain = keyedChain(cipher, org);
  const unlinked = {
    ...entry,
    id: newId('aud', now),
    seq: head.seq,
    changes: JSON.stringify(entry.changes),
    timestamp: new Date(now).toISOString(),
    previous_hash: head.hash,
  };
  // Hashing the text of a large change and storing it take as long as writing it.
  await turns.bulk();
  const hash = chain.linkHash(unlinked);
  await turns.bulk();
  await tx
    .insertInto('audit_logs')
    .values({ ...unlinked, hash })
    .execute();
  const mac = chain.headMac({ seq: head.seq, hash });
  await tx.updateTable('audit_heads').set({ hash, mac }).where('org_id', '=', entry.org_id).execute();
}

/** The first entry written by this version anchors the chain at the entry before it. */
async function anchoredOrganisation(tx: Db, cipher: AuditCipher, orgId: string, last: Anchor): Promise<KeyedOrganisation> {
  const org = await tx
    .selectFrom('organisations')
    .select(['id', 'data_key', 'audit_anchor'])
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow();
  if (org.audit_anchor === null)
    await tx
      .updateTable('organisations')
      .set({ audit_anchor: sealAnchor(cipher, org, last) })
      .where('id', '=', orgId)
      .execute();
  return org;
}

export interface AuditFilter {
  user_id?: string | undefined;
  action?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}
/** Newest first. `from` and `to` are inclusive. */
export async function listAudit(db: Db, orgId: string, filter: AuditFilter, page: Page): Promise<Paged<AuditLog>> {
  let query = db.selectFrom('audit_logs').where('org_id', '=', orgId);
  for (const column of ['user_id', 'action', 'resource_type', 'resource_id'] as const) {
    const wanted = filter[column];
    if (wanted !== undefined) query = query.where(column, '=', wanted);
  }
  if (filter.from !== undefined) query = query.where('timestamp', '>=', new Date(filter.from).toISOString());
  if (filter.to !== undefined) query = query.where('timestamp', '<=', new Date(filter.to).toISOString());
  const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
  const ordered = query.orderBy('seq', 'desc');
  const count = () => (isFiltered ? countOf(query) : countAll(db, orgId));
  const { rows, total } = await readBoundedPage(ordered.select(SHOWN), ordered.select(bytesOf('changes')), page, count);
  return { rows: await decodeInTurns(rows, toAuditLog), total };
}

export async function findAudit(db: Db, orgId: string, id: string): Promise<AuditLog | undefined> {
  const row = await db.selectFrom('audit_logs').select(SHOWN).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  return row && (await toAuditLog(row));
}

/** The chain has no gap, so its newest sequence number is its length. */
async function countAll(db: Db, orgId: string): Promise<number> {
  const head = await db.selectFrom('audit_heads').select('seq').where('org_id', '=', orgId).executeTakeFirst();
  return head?.seq ?? 0;
}

const SHOWN = [
  'id',
  'org_id',
  'user_id',
  'user_email',
  'action',
  'resource_type',
  'resource_id',
  'changes',
  'ip_address',
  'user_agent',
  'timestamp',
] as const;
/** Modifies the row in place: copying a hundred rows took as long as reading them. */
async function toAuditLog(row: Pick<AuditLogRow, (typeof SHOWN)[number]>): Promise<AuditLog> {
  return Object.assign(row, { changes: await storedJsonInTurns<JsonObject>(row.changes, {}) });
}

export interface AuditVerdict {
  valid: boolean;
  checked: number;
  first_invalid_id: string | null;
  /** Entries from before the chain was keyed. Anyone who can write to the database can recompute their plain hashes. */
  unkeyed: number;
}
const VERIFY_CHUNK = 250;

/** Walks the whole chain and checks each link's hash, its reference to the previous link, gaps in the numbers, and the head. */
export async function verifyAudit(db: Db, cipher: AuditCipher, orgId: string): Promise<AuditVerdict> {
  // Read the head first, so that entries written during the walk do not look like a broken tail.
  const head = await db.selectFrom('audit_heads').select(['seq', 'hash', 'mac']).where('org_id', '=', orgId).executeTakeFirst();
  const keying = await keyingOf(db, cipher, orgId);
  let previous: Anchor = { seq: 0, hash: '' };
  let unkeyed = 0;
  const verdict = (valid: boolean, first_invalid_id: string | null = null) => ({
    valid,
    checked: previous.seq,
    first_invalid_id,
    unkeyed,
  });
  if (keying === undefined) return verdict(false);
  for (;;) {
    const next = db
      .selectFrom('audit_logs')
      .where('org_id', '=', orgId)
      .where('seq', '>', previous.seq)
      .where('seq', '<=', head?.seq ?? Number.MAX_SAFE_INTEGER)
      .orderBy('seq');
    const sizes = await next.select(bytesOf('changes')).limit(VERIFY_CHUNK).execute();
    if (sizes.length === 0) break;
    const rows = await next
      .selectAll()
      .limit(fitting(sizes.map(({ bytes }) => Number(bytes))))
      .execute();
    for (const { hash, ...row } of rows) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      const isKeyed = row.seq > keying.anchor.seq;
      const expected = isKeyed ? keying.chain.linkHash(row) : plainLinkHash(row);
      const tied = row.seq === previous.seq + 1 && row.previous_hash === previous.hash;
      const fitsAnchor = row.seq !== keying.anchor.seq || hash === keying.anchor.hash;
      if (!tied || hash !== expected || !fitsAnchor) return verdict(false, row.id);
      previous = { seq: row.seq, hash };
      if (!isKeyed) unkeyed += 1;
    }
  }
  // A missing tail has no row to report.
  const complete = head !== undefined && head.seq === previous.seq && head.hash === previous.hash;
  // An anchor is written together with the first keyed entry. A chain that ends at or before its anchor was truncated.
  return verdict(complete && (!keying.isAnchored || (previous.seq > keying.anchor.seq && head.mac === keying.chain.headMac(previous))));
}

interface Keying {
  isAnchored: boolean;
  anchor: Anchor;
  chain: AuditChain;
}
/** Without an anchor the whole chain is plain. Undefined if the anchor cannot be opened: it was written without the key. */
async function keyingOf(db: Db, cipher: AuditCipher, orgId: string): Promise<Keying | undefined> {
  const org = await db.selectFrom('organisations').select(['id', 'data_key', 'audit_anchor']).where('id', '=', orgId).executeTakeFirst();
  if (org === undefined) return undefined;
  const isAnchored = org.audit_anchor !== null;
  const anchor = org.audit_anchor === null ? { seq: Number.MAX_SAFE_INTEGER, hash: '' } : openAnchor(cipher, org, org.audit_anchor);
  return anchor && { isAnchored, anchor, chain: keyedChain(cipher, org) };
}
