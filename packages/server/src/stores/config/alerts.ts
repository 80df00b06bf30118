import { createHash } from 'node:crypto';
import { type Alert, type AlertChannel, alert } from '@firsthand/core/config/alert.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { openChannels, sealChannels } from './alert-channels.ts';
import { listKeyedOrganisations, organisationKey } from './organisations.ts';
import { countOf, type Page, type Paged, readPage } from './paging.ts';
import type { AlertRow, AlertStateRow, Db } from './schema.ts';
import { lenientJson, storedJson } from './stored-json.ts';

/** Whether an alert fires, and what was announced to each channel. Not configuration: a change leaves no audit entry and moves no version. */
export interface AlertState {
  alert_id: string;
  firing: boolean;
  /** When it began to fire, or when it ended. */
  since: string;
  value: number;
  message: string;
  event_id: string | null;
  /** The last announcement to each channel, by `channelKey`. */
  announced: Record<string, 'firing' | 'resolved'>;
}

/** Where alerts are stored, and what opens their channels. */
export interface AlertStore {
  db: Db;
  cipher: Cipher;
}

function read(cipher: Cipher, org: KeyedOrganisation | undefined, row: AlertRow): Alert {
  const stored = alert.fromRow(row, lenientJson);
  try {
    return org ? { ...stored, channels: openChannels(cipher, org, row) } : stored;
  } catch {
    // The key is lost: the masks remain, and every announcement says that its address is none.
    return stored;
  }
}

function select(db: Db, orgId: string) {
  return db.selectFrom('alerts').where('org_id', '=', orgId);
}

export async function findAlert({ db, cipher }: AlertStore, orgId: string, id: string): Promise<Alert | undefined> {
  const row = await select(db, orgId).selectAll().where('id', '=', id).executeTakeFirst();
  return row && read(cipher, await organisationKey(db, orgId), row);
}

export async function listAlerts({ db, cipher }: AlertStore, orgId: string, page: Page): Promise<Paged<Alert>> {
  const query = select(db, orgId);
  const listed = query.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { rows, total } = await readPage(listed, page, () => countOf(query));
  const org = await organisationKey(db, orgId);
  return { rows: rows.map((row) => read(cipher, org, row)), total };
}

export async function countAlerts(db: Db, orgId: string): Promise<number> {
  return await countOf(select(db, orgId));
}

export async function insertAlert({ db: tx, cipher }: AlertStore, value: Alert): Promise<Alert> {
  const org = await organisationKey(tx, value.org_id);
  const columns = { ...alert.toColumns(value), ...sealChannels(cipher, org, value.channels) };
  return read(cipher, org, await tx.insertInto('alerts').values(columns).returningAll().executeTakeFirstOrThrow());
}

export async function updateAlert({ db: tx, cipher }: AlertStore, before: Alert, values: Partial<Alert>): Promise<Alert> {
  const org = await organisationKey(tx, before.org_id);
  const sealed = values.channels === undefined ? {} : sealChannels(cipher, org, values.channels);
  return read(
    cipher,
    org,
    await tx
      .updateTable('alerts')
      .set({ ...alert.toChangedColumns(values), ...sealed })
      .where('org_id', '=', before.org_id)
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** The alert begins anew, as if it had never fired. */
export async function forgetAlertState(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('alert_states').where('alert_id', '=', id).execute();
}

export async function deleteAlert(tx: Db, orgId: string, id: string): Promise<void> {
  await forgetAlertState(tx, id);
  await tx.deleteFrom('alerts').where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** The enabled alerts of every organisation, for the process that evaluates them. */
export async function listEnabledAlerts({ db, cipher }: AlertStore): Promise<Alert[]> {
  const rows = await db.selectFrom('alerts').selectAll().where('enabled', '=', 1).orderBy('id').execute();
  const orgs = new Map(rows.length === 0 ? [] : (await listKeyedOrganisations(db)).map((org) => [org.id, org]));
  return rows.map((row) => read(cipher, orgs.get(row.org_id), row));
}

export type FiringAlert = Pick<Alert, 'id' | 'name' | 'kind' | 'pipeline_id' | 'integration_id' | 'threshold'> &
  Pick<AlertState, 'value' | 'since' | 'message' | 'event_id'>;
export async function listFiringAlerts(db: Db, orgId: string): Promise<FiringAlert[]> {
  const rows = await db
    .selectFrom('alerts')
    .innerJoin('alert_states', 'alert_states.alert_id', 'alerts.id')
    .select(['alerts.id', 'alerts.name', 'alerts.kind', 'alerts.pipeline_id', 'alerts.integration_id', 'alerts.threshold'])
    .select(['alert_states.value', 'alert_states.since', 'alert_states.message', 'alert_states.event_id'])
    .where('alerts.org_id', '=', orgId)
    .where('alerts.enabled', '=', 1)
    .where('alert_states.firing', '=', 1)
    .orderBy('alert_states.since', 'desc')
    .execute();
  return rows.map((row) => ({ ...row, value: Number(row.value), threshold: Number(row.threshold) }));
}

export async function readAlertStates(db: Db): Promise<Map<string, AlertState>> {
  const rows = await db.selectFrom('alert_states').selectAll().execute();
  return new Map(rows.map((row) => [row.alert_id, readState(row)]));
}
export async function findAlertState(db: Db, id: string): Promise<AlertState | undefined> {
  const row = await db.selectFrom('alert_states').selectAll().where('alert_id', '=', id).executeTakeFirst();
  return row && readState(row);
}
function readState({ firing, announced, value, ...row }: AlertStateRow): AlertState {
  return { ...row, value: Number(value), firing: firing === 1, announced: announcedOf(announced) };
}

/** False, and nothing is written, if the alert was changed or deleted since it was read. */
export async function writeAlertState(db: Db, { id, updated_at }: Alert, state: AlertState): Promise<boolean> {
  const row = { ...state, firing: state.firing ? (1 as const) : (0 as const), announced: JSON.stringify(state.announced) };
  return await db.transaction().execute(async (tx) => {
    const unchanged = tx
      .selectFrom('alerts')
      .select('id')
      .where('id', '=', id)
      .where('enabled', '=', 1)
      .where('updated_at', '=', updated_at);
    if ((await unchanged.executeTakeFirst()) === undefined) return false;
    // Only `noteAnnounced` writes the announcements.
    const { alert_id: _key, announced: _announced, ...rest } = row;
    await tx
      .insertInto('alert_states')
      .values(row)
      .onConflict((conflict) => conflict.column('alert_id').doUpdateSet(rest))
      .execute();
    return true;
  });
}

/**
 * Call one after the other: it reads the announcements of the other channels and writes them back. False if the alert was disabled or deleted
 * in between, and has no state.
 */
export async function noteAnnounced(db: Db, alertId: string, channel: string, occasion: 'firing' | 'resolved'): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const row = await tx.selectFrom('alert_states').select('announced').where('alert_id', '=', alertId).executeTakeFirst();
    if (row === undefined) return false;
    await replaceAnnounced(tx, alertId, { ...announcedOf(row.announced), [channel]: occasion });
    return true;
  });
}
export async function replaceAnnounced(tx: Db, alertId: string, announced: AlertState['announced']): Promise<void> {
  await tx
    .updateTable('alert_states')
    .set({ announced: JSON.stringify(announced) })
    .where('alert_id', '=', alertId)
    .execute();
}

/** Identifies a channel across edits of the alert, without its address: the holder of a webhook address may post there. */
export function channelKey({ type, url, to }: AlertChannel): string {
  return hashedKey(`${type} ${url ?? to ?? ''}`);
}
const hashedKey = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Earlier versions stored the address itself: `slack https://…`. */
function announcedOf(text: string): AlertState['announced'] {
  const stored = Object.entries(storedJson<AlertState['announced']>(text, {}));
  return Object.fromEntries(stored.map(([key, told]) => [key.includes(' ') ? hashedKey(key) : key, told]));
}
