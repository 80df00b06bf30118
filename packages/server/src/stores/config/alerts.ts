import { createHash } from 'node:crypto';
import { type Alert, type AlertChannel, alert } from '@firsthand/core/config/alert.ts';
import { countOf, type Page, type Paged, readPage } from './paging.ts';
import type { AlertRow, Db } from './schema.ts';
import { lenientJson, storedJson } from './stored-json.ts';

/** Whether an alert fires, and who was told. Not configuration: a change leaves no audit entry and moves no version. */
export interface AlertState {
  alert_id: string;
  firing: boolean;
  /** When it began to fire, or when it ended. */
  since: string;
  value: number;
  message: string;
  event_id: string | null;
  /** What each channel was told last, by `channelKey`. */
  announced: Record<string, 'firing' | 'resolved'>;
}

const read = (row: AlertRow): Alert => alert.fromRow(row, lenientJson);

function select(db: Db, orgId: string) {
  return db.selectFrom('alerts').where('org_id', '=', orgId);
}

export async function findAlert(db: Db, orgId: string, id: string): Promise<Alert | undefined> {
  const row = await select(db, orgId).selectAll().where('id', '=', id).executeTakeFirst();
  return row && read(row);
}

export async function listAlerts(db: Db, orgId: string, page: Page): Promise<Paged<Alert>> {
  const query = select(db, orgId);
  const listed = query.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { rows, total } = await readPage(listed, page, () => countOf(query));
  return { rows: rows.map(read), total };
}

export async function countAlerts(db: Db, orgId: string): Promise<number> {
  return await countOf(select(db, orgId));
}

export async function insertAlert(tx: Db, value: Alert): Promise<Alert> {
  return read(await tx.insertInto('alerts').values(alert.toColumns(value)).returningAll().executeTakeFirstOrThrow());
}

export async function updateAlert(tx: Db, before: Alert, values: Partial<Alert>): Promise<Alert> {
  return read(
    await tx
      .updateTable('alerts')
      .set(alert.toChangedColumns(values))
      .where('org_id', '=', before.org_id)
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

export async function deleteAlert(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('alert_states').where('alert_id', '=', id).execute();
  await tx.deleteFrom('alerts').where('org_id', '=', orgId).where('id', '=', id).execute();
}

/** The enabled alerts of every organisation, for the process that evaluates them. */
export async function listEnabledAlerts(db: Db): Promise<Alert[]> {
  return (await db.selectFrom('alerts').selectAll().where('enabled', '=', 1).orderBy('id').execute()).map(read);
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
  return new Map(
    rows.map(({ firing, announced, ...row }) => [
      row.alert_id,
      { ...row, value: Number(row.value), firing: firing === 1, announced: announcedOf(announced) },
    ]),
  );
}

export async function writeAlertState(db: Db, state: AlertState): Promise<void> {
  const row = { ...state, firing: state.firing ? (1 as const) : (0 as const), announced: JSON.stringify(state.announced) };
  await db.transaction().execute(async (tx) => {
    // The alert may have been deleted while it was evaluated.
    const alive = await tx.selectFrom('alerts').select('id').where('id', '=', state.alert_id).executeTakeFirst();
    if (alive === undefined) return;
    // What channels were told is written by `noteAnnounced` alone.
    const { alert_id: _key, announced: _announced, ...rest } = row;
    await tx
      .insertInto('alert_states')
      .values(row)
      .onConflict((conflict) => conflict.column('alert_id').doUpdateSet(rest))
      .execute();
  });
}

/** Call one after the other: it reads what the other channels were told, and writes it back. */
export async function noteAnnounced(db: Db, alertId: string, channel: string, occasion: 'firing' | 'resolved'): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx.selectFrom('alert_states').select('announced').where('alert_id', '=', alertId).executeTakeFirst();
    if (row === undefined) return;
    const announced = { ...announcedOf(row.announced), [channel]: occasion };
    await tx
      .updateTable('alert_states')
      .set({ announced: JSON.stringify(announced) })
      .where('alert_id', '=', alertId)
      .execute();
  });
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
