import type { AuditCipher } from '../../../stores/config/audit-chain.ts';
import { type AuditEntry, appendAudit } from '../../../stores/config/audit-logs.ts';
import type { Db } from '../../../stores/config/schema.ts';
import type { Actor } from '../deps.ts';

export type Client = Pick<Actor, 'ip' | 'user_agent'>;
export interface AuditedUser {
  id: string;
  org_id: string;
  email: string;
}

/** The chain that failures for unknown addresses pretend to write. It belongs to no organisation. */
const NOBODY = '';

export async function auditSignIn(
  tx: Db,
  cipher: AuditCipher,
  action: 'auth.login' | 'auth.login_failed' | 'auth.logout',
  user: AuditedUser,
  client: Client,
  now: number,
  changes: AuditEntry['changes'] = {},
): Promise<void> {
  const entry = {
    org_id: user.org_id,
    user_id: user.id,
    user_email: user.email,
    action,
    resource_type: 'auth',
    resource_id: user.id,
    changes,
    ip_address: client.ip,
    user_agent: client.user_agent,
  };
  await appendAudit(tx, cipher, entry, now);
}

/** Costs the same writes as a real entry, so that response time does not reveal which accounts exist. */
export async function imitateAudit(tx: Db): Promise<void> {
  await tx
    .insertInto('audit_heads')
    .values({ org_id: NOBODY, seq: 1, hash: '' })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet((eb) => ({ seq: eb('audit_heads.seq', '+', 1) })))
    .execute();
  await tx.selectFrom('organisations').select(['id', 'data_key', 'audit_anchor']).where('id', '=', NOBODY).execute();
  await tx.updateTable('audit_heads').set({ hash: '' }).where('org_id', '=', NOBODY).execute();
  await tx.selectFrom('audit_logs').select('id').where('org_id', '=', NOBODY).limit(1).execute();
}
