/**
 * Channels of an alert in the store. The holder of an address may post there, and a Slack address is a credential by itself. The column
 * `channels` has masks; `sealed_channels` has the addresses, sealed.
 */
import type { Alert, AlertChannel } from '@firsthand/core/config/alert.ts';
import { maskSecret } from '@firsthand/core/vendor/secrets.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { isMask } from '../../secrets/mask.ts';
import { listKeyedOrganisations } from './organisations.ts';
import type { AlertRow, Db } from './schema.ts';
import { storedJson } from './stored-json.ts';

type Columns = Pick<AlertRow, 'channels' | 'sealed_channels'>;

export function maskChannel({ type, url, to }: AlertChannel): AlertChannel {
  const hidden = (text: string) => (isMask(text) ? text : maskSecret(text));
  return { type, ...(url === undefined ? {} : { url: hidden(url) }), ...(to === undefined ? {} : { to: hidden(to) }) };
}

export function sealChannels(cipher: Cipher, org: KeyedOrganisation, channels: Alert['channels']): Columns {
  return { channels: maskedText(channels), sealed_channels: cipher.sealText(org, JSON.stringify(channels)) };
}
function maskedText(channels: Alert['channels']): string {
  return JSON.stringify(channels.map(maskChannel));
}

/** Throws if the addresses were sealed under another key. */
export function openChannels(cipher: Cipher, org: KeyedOrganisation, row: Columns): Alert['channels'] {
  const stored = storedJson<Alert['channels']>(row.channels, []);
  if (row.sealed_channels === null) return stored;
  const sealed = JSON.parse(cipher.openText(org, row.sealed_channels)) as Alert['channels'];
  // The previous release writes addresses into `channels` and does not know the other column.
  return maskedText(sealed) === row.channels ? sealed : stored;
}

/** Seals the channels of rows that an earlier version wrote. Finds nothing at later starts. */
export async function sealStoredChannels(db: Db, cipher: Cipher): Promise<void> {
  const rows = await db.selectFrom('alerts').select(['id', 'org_id', 'channels', 'sealed_channels']).execute();
  const open = rows.filter(({ channels }) => storedJson<Alert['channels']>(channels, []).some(isOpen));
  if (open.length === 0) return;
  const keys = new Map((await listKeyedOrganisations(db)).map((org) => [org.id, org]));
  for (const { id, org_id, channels } of open) {
    const key = keys.get(org_id);
    if (key === undefined) continue;
    const sealed = sealChannels(cipher, key, storedJson<Alert['channels']>(channels, []));
    await db.updateTable('alerts').set(sealed).where('id', '=', id).where('channels', '=', channels).execute();
  }
}
function isOpen({ url, to }: AlertChannel): boolean {
  return [url, to].some((text) => text !== undefined && !isMask(text));
}
