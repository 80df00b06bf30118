import { createHash } from 'node:crypto';
import type { JsonObject } from '@firsthand/core/json.ts';
import { newId } from '../../runtime/ids.ts';
import { countOf, type Page, type Paged, readPage } from './paging.ts';
import type { AuditLogRow, Db } from './schema.ts';
import { storedJson } from './stored-json.ts';

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
 * Adds a link to the organisation's chain. The head's row is locked by its update, so two writers line up and the numbers have no gap;
 * it is taken last in a transaction, after every other lock.
 */
export async function appendAudit(tx: Db, entry: AuditEntry, now: number): Promise<void> {
  const head = await tx
    .updateTable('audit_heads')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('org_id', '=', entry.org_id)
    .returning(['seq', 'hash'])
    .executeTakeFirstOrThrow();
  const unlinked = {
    ...entry,
    id: newId('aud', now),
    seq: head.seq,
    changes: JSON.stringify(entry.changes),
    timestamp: new Date(now).toISOString(),
    previous_hash: head.hash,
  };
  const hash = linkHash(unlinked);
  await tx
    .insertInto('audit_logs')
    .values({ ...unlinked, hash })
    .execute();
  await tx.updateTable('audit_heads').set({ hash }).where('org_id', '=', entry.org_id).execute();
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
function linkHash(row: Omit<AuditLogRow, 'hash'>): string {
  return createHash('sha256')
    .update(JSON.stringify(HASHED.map((column) => row[column])))
    .digest('hex');
}

export interface AuditFilter {
  user_id?: string | undefined;
  action?: string | undefined;
  resource_type?: string | undefined;
  resource_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}
/** Newest first; `from` counts in, `to` does not. */
export async function listAudit(db: Db, orgId: string, filter: AuditFilter, page: Page): Promise<Paged<AuditLog>> {
  let query = db.selectFrom('audit_logs').where('org_id', '=', orgId);
  for (const column of ['user_id', 'action', 'resource_type', 'resource_id'] as const) {
    const wanted = filter[column];
    if (wanted !== undefined) query = query.where(column, '=', wanted);
  }
  if (filter.from !== undefined) query = query.where('timestamp', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('timestamp', '<', filter.to);
  const isFiltered = Object.values(filter).some((wanted) => wanted !== undefined);
  const listed = query.select(SHOWN).orderBy('seq', 'desc');
  const { rows, total } = await readPage(listed, page, () => (isFiltered ? countOf(query) : countAll(db, orgId)));
  return { rows: rows.map(toAuditLog), total };
}

/** The chain has no gap: its newest number is its length, however long it has grown. */
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
/** The row itself becomes the entry: copying a hundred of them took as long as reading them. What cannot be read, `verify` finds. */
function toAuditLog(row: Pick<AuditLogRow, (typeof SHOWN)[number]>): AuditLog {
  return Object.assign(row, { changes: storedJson<JsonObject>(row.changes, {}) });
}

export interface AuditVerdict {
  valid: boolean;
  checked: number;
  first_invalid_id: string | null;
}
const VERIFY_CHUNK = 1_000;

/** Walks the whole chain: every link's own hash, its tie to the one before, no number missing, and the head at its end. */
export async function verifyAudit(db: Db, orgId: string): Promise<AuditVerdict> {
  // The end is fixed first, so that entries written during the walk do not look like a broken tail.
  const head = await db.selectFrom('audit_heads').select(['seq', 'hash']).where('org_id', '=', orgId).executeTakeFirst();
  let previous = { seq: 0, hash: '' };
  let checked = 0;
  for (;;) {
    const rows = await db
      .selectFrom('audit_logs')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('seq', '>', previous.seq)
      .where('seq', '<=', head?.seq ?? Number.MAX_SAFE_INTEGER)
      .orderBy('seq')
      .limit(VERIFY_CHUNK)
      .execute();
    for (const row of rows) {
      const { hash, ...rest } = row;
      const sound = row.seq === previous.seq + 1 && row.previous_hash === previous.hash && linkHash(rest) === hash;
      if (!sound) return { valid: false, checked, first_invalid_id: row.id };
      previous = { seq: row.seq, hash };
      checked += 1;
    }
    if (rows.length < VERIFY_CHUNK) break;
  }
  // A missing tail has no row to name.
  const complete = head !== undefined && head.seq === previous.seq && head.hash === previous.hash;
  return { valid: complete, checked, first_invalid_id: null };
}
