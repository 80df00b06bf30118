/**
 * Channels to which an alert was announced that has been disabled, deleted or pointed at something else since, or that lost the channel: they
 * still get its end. Written in the transaction of the change, and removed when the message was sent. The address is sealed.
 */
import type { AlertChannel } from '@firsthand/core/config/alert.ts';
import { type AlertStore, channelKey } from './alerts.ts';
import { listKeyedOrganisations, organisationKey } from './organisations.ts';
import type { AlertEndingRow, Db } from './schema.ts';

export interface AlertEnding<A> extends Pick<AlertEndingRow, 'alert_id' | 'org_id' | 'created_at'> {
  channel: AlertChannel;
  announcement: A;
}

export async function insertAlertEndings<A>({ db: tx, cipher }: AlertStore, endings: readonly AlertEnding<A>[]): Promise<void> {
  for (const { alert_id, org_id, created_at, channel, announcement } of endings) {
    const sealed = cipher.sealText(await organisationKey(tx, org_id), JSON.stringify({ channel, announcement }));
    await tx
      .insertInto('alert_endings')
      .values({ alert_id, channel: channelKey(channel), org_id, sealed, created_at })
      .onConflict((conflict) => conflict.columns(['alert_id', 'channel']).doUpdateSet({ sealed, created_at }))
      .execute();
  }
}

/**
 * Forgets those from before `since`: a channel that is down for so long gets no end. `onUnreadable`: called for a row that cannot be read,
 * which must not keep the others from being listed.
 */
export async function listAlertEndings<A>(
  { db, cipher }: AlertStore,
  since: string,
  onUnreadable: (alertId: string, error: unknown) => void,
): Promise<AlertEnding<A>[]> {
  const all = await db.selectFrom('alert_endings').selectAll().orderBy('created_at').execute();
  const rows = all.filter(({ created_at }) => created_at >= since);
  if (rows.length < all.length) await db.deleteFrom('alert_endings').where('created_at', '<', since).execute();
  const orgs = new Map(rows.length === 0 ? [] : (await listKeyedOrganisations(db)).map((org) => [org.id, org]));
  return rows.flatMap(({ alert_id, org_id, created_at, sealed }) => {
    const org = orgs.get(org_id);
    if (org === undefined || !cipher.opens(org)) return [];
    try {
      const { channel, announcement } = JSON.parse(cipher.openText(org, sealed)) as Pick<AlertEnding<A>, 'channel' | 'announcement'>;
      return [{ alert_id, org_id, created_at, channel, announcement }];
    } catch (error) {
      onUnreadable(alert_id, error);
      return [];
    }
  });
}

/** A later end to the same channel stays. */
export async function deleteAlertEnding<A>(db: Db, { alert_id, channel, created_at }: AlertEnding<A>): Promise<void> {
  await db
    .deleteFrom('alert_endings')
    .where('alert_id', '=', alert_id)
    .where('channel', '=', channelKey(channel))
    .where('created_at', '=', created_at)
    .execute();
}
