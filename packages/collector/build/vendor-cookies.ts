/** First-party cookies of ad and analytics platforms, by their names in `context.vendor_ids`. */
import type { VendorIds } from '../src/types.ts';

type Cookies = VendorIds[1];

const meta: Cookies = [
  ['fbp', '_fbp'],
  ['fbc', '_fbc'],
];
// `GA1.1.<client id>`; per stream `GS1.1.<session>.…` or `GS2.1.s<session>$…`.
const googleAnalytics: Cookies = [
  ['ga_client_id', '_ga', '\\d+\\.\\d+$'],
  ['ga_session_id', '_ga_[^=;]+', '^GS\\d+\\.\\d+\\.s?(\\d+)'],
];
const googleAds: Cookies = [['gcl_aw', '_gcl_aw']];
const tiktok: Cookies = [['ttp', '_ttp']];
const snapchat: Cookies = [
  ['scid', '_scid'],
  ['sctr', '_sctr'],
];
const pinterest: Cookies = [['epik', '_epik']];
const linkedin: Cookies = [['li_fat_id', 'li_fat_id']];
const reddit: Cookies = [
  ['rdt_uuid', '_rdt_uuid'],
  ['rdt_cid', '_rdt_cid'],
];
const x: Cookies = [['twclid', '_twclid']];
const microsoft: Cookies = [
  ['uetmsclkid', '_uetmsclkid'],
  ['uetvid', '_uetvid'],
];
const hubspot: Cookies = [['hubspotutk', 'hubspotutk']];
const vwo: Cookies = [['vwo_uuid', '_vwo_uuid']];
const openai: Cookies = [
  ['oppref', '__oppref'],
  ['obref', '__obref'],
];
const criteo: Cookies = [['crto_mapped_user_id', 'crto_mapped_user_id']];
const axon: Cookies = [
  ['axwrt', '_axwrt'],
  ['axeid', '_axeid'],
  ['axart', '_axart'],
];
const adroll: Cookies = [['adroll_fpc', '__adroll_fpc']];
const quora: Cookies = [['qclid', 'quora_qclid']];
const stackadapt: Cookies = [['stackadapt_user_id', 'sa-userid']];
const awin: Cookies = [['awc', 'awc']];
const cj: Cookies = [['cje', 'cje']];
const algolia: Cookies = [['algolia_user_token', '_ALGOLIA']];

/** Cookies by every vendor name that a configuration may use. */
export const VENDOR_COOKIES: ReadonlyMap<string, Cookies> = new Map([
  ...['meta', 'facebook', 'meta_capi', 'meta_conversions', 'meta_conversions_api'].map((key) => [key, meta] as const),
  ...['google_analytics', 'google_analytics_4', 'ga4'].map((key) => [key, googleAnalytics] as const),
  ...['google_ads', 'google_ads_conversions'].map((key) => [key, googleAds] as const),
  ...['tiktok', 'tiktok_events', 'tiktok_events_api'].map((key) => [key, tiktok] as const),
  ...['snapchat', 'snap'].map((key) => [key, snapchat] as const),
  ['pinterest', pinterest],
  ['linkedin', linkedin],
  ['reddit', reddit],
  ...['x', 'twitter', 'x_ads'].map((key) => [key, x] as const),
  ...['microsoft', 'microsoft_ads', 'microsoft_advertising', 'microsoft_offline_conversions', 'bing', 'bing_ads'].map(
    (key) => [key, microsoft] as const,
  ),
  ['hubspot', hubspot],
  ['vwo', vwo],
  ['algolia', algolia],
  ['openai_ads', openai],
  ['criteo', criteo],
  ['applovin_axon', axon],
  ['adroll', adroll],
  ['quora', quora],
  ['stackadapt', stackadapt],
  ['awin', awin],
  ['cj', cj],
]);
