/** `vendor_syncs` of a pipeline: which first-party ids of which vendor are read or minted, and with which consent. */
import type { IdentityConfig, Pipeline } from '../config/resources.ts';
import { isObject } from '../json.ts';

export interface SyncRule {
  /** As in `SYNC_IDS`, whatever name the configuration uses. */
  vendor: string;
  enabled: boolean;
  /** Consent required to read this vendor's ids; undefined if none is required. */
  category: string | undefined;
  /** Consent required to create an id; always set. */
  mintCategory: string;
}
/** By id: consent categories of which one must be granted. Ids without an entry need none. */
export type IdConsent = ReadonlyMap<string, readonly string[]>;

/** Names in `context.vendor_ids` by vendor. */
export const SYNC_IDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['meta', ['fbp', 'fbc']],
  ['google_analytics', ['ga_client_id', 'ga_session_id', 'ga_sessions']],
  ['google_ads', ['gcl_aw', 'gcl_dc', 'gcl_gb', 'gcl_ag']],
  ['tiktok', ['ttp', 'ttclid']],
  ['snapchat', ['scid', 'sctr']],
  ['pinterest', ['epik']],
  ['linkedin', ['li_fat_id']],
  ['reddit', ['rdt_uuid', 'rdt_cid']],
  ['x', ['twclid']],
  ['microsoft', ['uetvid', 'uetmsclkid']],
  ['yandex_metrica', ['ym_uid']],
  ['hubspot', ['hubspotutk']],
  ['vwo', ['vwo_uuid']],
  ['algolia', ['algolia_user_token']],
  ['openai_ads', ['oppref', 'obref']],
  ['criteo', ['crto_mapped_user_id']],
  ['applovin_axon', ['axwrt', 'axeid', 'axart']],
  ['adroll', ['adroll_fpc']],
  ['quora', ['qclid']],
  ['stackadapt', ['stackadapt_user_id']],
  ['awin', ['awc']],
  ['cj', ['cje']],
]);
/** Further names of vendors in a configuration. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['facebook', 'meta'],
  ['meta_capi', 'meta'],
  ['meta_conversions', 'meta'],
  ['meta_conversions_api', 'meta'],
  ['ga4', 'google_analytics'],
  ['google_analytics_4', 'google_analytics'],
  ['google_ads_conversions', 'google_ads'],
  ['tiktok_events', 'tiktok'],
  ['tiktok_events_api', 'tiktok'],
  ['snap', 'snapchat'],
  ['twitter', 'x'],
  ['x_ads', 'x'],
  ['microsoft_ads', 'microsoft'],
  ['microsoft_advertising', 'microsoft'],
  ['microsoft_offline_conversions', 'microsoft'],
  ['yandex_offline_conversions', 'yandex_metrica'],
  ['bing', 'microsoft'],
  ['bing_ads', 'microsoft'],
]);

type Configured = { identity_config: Pick<IdentityConfig, 'vendor_sync'> } & Pick<Pipeline, 'js_builder_config'>;

/** One line for each name that stands for no vendor: nothing is read or minted for it. */
export function unknownSyncs({ identity_config, js_builder_config }: Configured): string[] {
  const named = {
    'js_builder_config.vendor_syncs': js_builder_config.vendor_syncs,
    'identity_config.vendor_sync': identity_config.vendor_sync,
  };
  return Object.entries(named).flatMap(([field, syncs]) =>
    Object.keys(syncs)
      .filter((name) => !SYNC_IDS.has(ALIASES.get(name) ?? name))
      .map(
        (name) => `${field}: no vendor is named ${JSON.stringify(name)}, so it has no effect. Known are ${[...SYNC_IDS.keys()].join(', ')}`,
      ),
  );
}

export function readSyncs(pipeline: Configured): SyncRule[] {
  const syncs: Record<string, unknown> = { ...pipeline.identity_config.vendor_sync, ...pipeline.js_builder_config.vendor_syncs };
  return Object.entries(syncs).map(([name, sync]) => {
    const vendor = ALIASES.get(name) ?? name;
    const named = isObject(sync) ? sync.consent_category : undefined;
    const category = typeof named === 'string' && named !== '' ? named : undefined;
    return {
      vendor,
      enabled: Boolean(sync) && !(isObject(sync) && sync.enabled === false),
      category,
      mintCategory: category ?? (vendor === 'google_analytics' ? 'analytics' : 'marketing'),
    };
  });
}

/** A sync that is disabled still names the consent for its ids. One that is enabled without a category opens them. */
export function idConsentOf(syncs: readonly SyncRule[]): IdConsent {
  const needed = new Map<string, string[]>();
  const open = new Set<string>();
  for (const { vendor, enabled, category } of syncs) {
    for (const id of SYNC_IDS.get(vendor) ?? []) {
      if (category !== undefined) needed.set(id, [...(needed.get(id) ?? []), category]);
      else if (enabled) open.add(id);
    }
  }
  for (const id of open) needed.delete(id);
  return needed;
}
