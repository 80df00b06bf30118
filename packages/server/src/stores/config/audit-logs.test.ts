import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { onBothEngines } from '../../../test/servers/both-engines.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { keyedChain, plainLinkHash } from './audit-chain.ts';
import { appendAudit, listAudit, verifyAudit } from './audit-logs.ts';
import { type ConfigStore, engineOf, openConfigStore } from './open.ts';
import { insertOrganisation, listKeyedOrganisations, replaceDataKey } from './organisations.ts';
import type { AuditLogRow } from './schema.ts';

const cipher = createCipher('a secret key for tests only');
const NOW = Date.parse('2026-05-01T12:00:00.000Z');

onBothEngines('the audit chain', (fresh) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-audit-'));
  let store: ConfigStore;
  let made = 0;
  let org: string;
  beforeAll(async () => {
    store = await openConfigStore({ databaseUrl: await fresh(), dataDir, clock: systemClock });
    // What an attacker with the rights of the database's owner would do first.
    await dropTriggers();
  });
  beforeEach(async () => {
    org = `org_${++made}`;
    await insertOrganisation(store.db, { id: org, name: 'One', data_key: cipher.newDataKey(org) }, { row_version: 0, now: '' });
  });
  afterAll(async () => {
    await store?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function dropTriggers(): Promise<void> {
    const statements =
      engineOf(store.db) === 'sqlite'
        ? ['drop trigger audit_logs_no_update', 'drop trigger audit_logs_no_delete']
        : ['alter table audit_logs disable trigger user'];
    for (const statement of statements) await sql.raw(statement).execute(store.db);
  }
  const append = (action: string) =>
    store.db.transaction().execute((tx) =>
      appendAudit(
        tx,
        cipher,
        {
          org_id: org,
          user_id: 'usr_1',
          user_email: 'ada@example.com',
          action,
          resource_type: 'pipeline',
          resource_id: null,
          changes: {},
          ip_address: null,
          user_agent: null,
        },
        NOW,
      ),
    );
  /** As versions before the key did: a plain SHA-256 over the entry. */
  async function appendPlain(action: string): Promise<void> {
    const head = await store.db.selectFrom('audit_heads').selectAll().where('org_id', '=', org).executeTakeFirstOrThrow();
    const row = {
      id: `aud_${org}_${head.seq + 1}`,
      org_id: org,
      seq: head.seq + 1,
      user_id: null,
      user_email: null,
      action,
      resource_type: 'pipeline',
      resource_id: null,
      changes: '{}',
      ip_address: null,
      user_agent: null,
      timestamp: new Date(NOW).toISOString(),
      previous_hash: head.hash,
    };
    const hash = plainLinkHash(row);
    expect(hash).toBe(
      createHash('sha256')
        .update(JSON.stringify(Object.values(row)))
        .digest('hex'),
    );
    await store.db
      .insertInto('audit_logs')
      .values({ ...row, hash })
      .execute();
    await store.db.updateTable('audit_heads').set({ seq: row.seq, hash }).where('org_id', '=', org).execute();
  }
  const verify = () => verifyAudit(store.db, cipher, org);
  const rows = () => store.db.selectFrom('audit_logs').selectAll().where('org_id', '=', org).orderBy('seq').execute();

  /** Rewrites the chain from an entry on, with whatever hash function the attacker has. */
  async function forge(from: number, hashOf: (row: Omit<AuditLogRow, 'hash'>) => string): Promise<void> {
    let previous: AuditLogRow | undefined;
    for (const row of await rows()) {
      if (row.seq >= from) {
        const { hash: _old, ...rest } = { ...row, previous_hash: previous?.hash ?? '', action: `${row.action}.forged` };
        const forged = { ...rest, hash: hashOf(rest) };
        await store.db.updateTable('audit_logs').set(forged).where('id', '=', row.id).execute();
        previous = forged;
      } else previous = row;
    }
    await store.db
      .updateTable('audit_heads')
      .set({ hash: previous?.hash ?? '' })
      .where('org_id', '=', org)
      .execute();
  }

  test('a chain of large entries is verified in pages of bytes, and listed without losing one', async () => {
    const changes = { config: { old: null, new: 'x'.repeat(900_000) } };
    const entry = {
      org_id: org,
      user_id: null,
      user_email: null,
      resource_type: 'template',
      resource_id: null,
      ip_address: null,
      user_agent: null,
    };
    for (let n = 0; n < 5; n++) await appendAudit(store.db, cipher, { ...entry, action: `change.${n}`, changes }, NOW);
    expect(await verifyAudit(store.db, cipher, org)).toMatchObject({ valid: true, checked: 5 });
    const pages = [];
    for (let offset = 0; offset < 5; offset += pages.at(-1)?.rows.length ?? 5)
      pages.push(await listAudit(store.db, org, {}, { limit: 100, offset }));
    expect(pages.map(({ rows, total }) => [rows.length, total])).toEqual([
      [2, 5],
      [2, 5],
      [1, 5],
    ]);
    expect(pages.flatMap(({ rows }) => rows.map(({ action }) => action))).toEqual([
      'change.4',
      'change.3',
      'change.2',
      'change.1',
      'change.0',
    ]);
  });

  test('entries cannot be forged without SECRET_KEY', async () => {
    for (const action of ['a', 'b', 'c']) await append(action);
    expect(await verify()).toEqual({ valid: true, checked: 3, first_invalid_id: null, unkeyed: 0 });
    const second = (await rows())[1];
    await forge(2, plainLinkHash);
    expect(await verify()).toMatchObject({ valid: false, checked: 1, first_invalid_id: second?.id });
    const other = createCipher('the key of somebody else');
    await forge(2, keyedChain(other, { id: org, data_key: other.newDataKey(org) }).linkHash);
    expect(await verify()).toMatchObject({ valid: false, checked: 1 });
  });

  test('a chain of an earlier version stays valid, and continues with keyed entries', async () => {
    for (const action of ['a', 'b']) await appendPlain(action);
    expect(await verify()).toEqual({ valid: true, checked: 2, first_invalid_id: null, unkeyed: 2 });
    for (const action of ['c', 'd']) await append(action);
    expect(await verify()).toEqual({ valid: true, checked: 4, first_invalid_id: null, unkeyed: 2 });
  });

  test.each([
    ['plain entries before the anchor', 1],
    ['keyed entries', 3],
  ])('%s cannot be rewritten as plain ones', async (_name, from) => {
    for (const action of ['a', 'b']) await appendPlain(action);
    for (const action of ['c', 'd']) await append(action);
    await forge(from, plainLinkHash);
    expect(await verify()).toMatchObject({ valid: false });
  });

  test('a plain entry after the anchor is invalid', async () => {
    await append('a');
    await appendPlain('b');
    expect(await verify()).toMatchObject({ valid: false, checked: 1 });
  });

  test.each([0, 1, 2, 3])('a chain cut after entry %i is invalid, although its head fits', async (kept) => {
    for (const action of ['a', 'b']) await appendPlain(action);
    for (const action of ['c', 'd']) await append(action);
    await store.db.deleteFrom('audit_logs').where('org_id', '=', org).where('seq', '>', kept).execute();
    const last = (await rows()).at(-1);
    await store.db
      .updateTable('audit_heads')
      .set({ seq: kept, hash: last?.hash ?? '' })
      .where('org_id', '=', org)
      .execute();
    expect(await verify()).toEqual({ valid: false, checked: kept, first_invalid_id: null, unkeyed: Math.min(kept, 2) });
  });

  test('an anchor that this installation did not write is invalid', async () => {
    await append('a');
    const other = createCipher('the key of somebody else');
    for (const audit_anchor of ['nonsense', other.sealText({ id: org, data_key: other.newDataKey(org) }, '["audit-anchor",9,""]')]) {
      await store.db.updateTable('organisations').set({ audit_anchor }).where('id', '=', org).execute();
      expect(await verify()).toMatchObject({ valid: false });
    }
  });

  test('a new SECRET_KEY keeps the chain verifiable', async () => {
    await appendPlain('a');
    await append('b');
    const next = createCipher('the next secret key of it');
    for (const one of await listKeyedOrganisations(store.db))
      if (one.id === org) await replaceDataKey(store.db, one.id, cipher.rewrap(one, next));
    expect(await verifyAudit(store.db, next, org)).toEqual({ valid: true, checked: 2, first_invalid_id: null, unkeyed: 1 });
  });
});
