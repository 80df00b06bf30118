/** Click ids and browser ids: which vendors use them, and how long they may be remembered. */

export interface ClickId {
  /** Parameter name in the landing page URL, as the platform writes it. */
  param: string;
  /** How many days after the click the vendor accepts the id. */
  days: number;
  /** Catalog keys. The integrations of these vendors decide which consent is needed to remember the id. */
  vendors: readonly string[];
}

const DEFAULT_DAYS = 90;
const GOOGLE = ['google_ads', 'google_data_manager', 'google_analytics_4', 'campaign_manager_360', 'display_video_360'];
const click = (param: string, vendors: readonly string[], days = DEFAULT_DAYS): ClickId => ({ param, vendors, days });

export const CLICK_IDS: readonly ClickId[] = [
  click('gclid', GOOGLE),
  click('gbraid', GOOGLE),
  click('wbraid', GOOGLE),
  click('dclid', GOOGLE),
  click('fbclid', ['meta_conversions_api']),
  click('ttclid', ['tiktok_events_api']),
  click('msclkid', ['microsoft_advertising', 'microsoft_offline_conversions']),
  click('ScCid', ['snapchat']),
  click('epik', ['pinterest']),
  click('li_fat_id', ['linkedin'], 30),
  click('rdt_cid', ['reddit']),
  click('twclid', ['x'], 30),
  click('qclid', ['quora']),
  click('ndclid', ['nextdoor']),
  click('tblci', ['taboola']),
  click('dicbo', ['outbrain']),
  click('ob_click_id', ['outbrain']),
  click('aleid', ['applovin_axon']),
  click('alart', ['applovin_axon']),
  click('oppref', ['openai_ads']),
  click('ttd_id', ['the_trade_desk']),
  click('aref_id', ['amazon_ads']),
  click('maas', ['amazon_ads']),
  click('yclid', ['yandex_metrica', 'yandex_offline_conversions']),
  click('vmcid', ['yahoo_dsp']),
  click('adct', ['adroll']),
  click('spclid', ['spotify_ads']),
  click('rclid', ['rokt']),
  click('rtid', ['rokt']),
  click('awc', ['awin']),
  click('irclickid', ['impact']),
  click('im_ref', ['impact']),
  click('cjevent', ['cj'], 395),
  click('ranSiteID', ['rakuten']),
  click('_ef_transaction_id', ['everflow']),
  click('admitad_uid', ['admitad']),
  click('wickedid', []),
];

/** Browser ids by their name in `context.vendor_ids`, with the consent category they need. */
export const BROWSER_IDS: ReadonlyMap<string, 'advertising' | 'analytics'> = new Map([
  ['ga_client_id', 'analytics'],
  ['fbp', 'advertising'],
  ['ttp', 'advertising'],
  ['scid', 'advertising'],
  ['uetvid', 'advertising'],
  ['rdt_uuid', 'advertising'],
]);

interface SeenClick {
  param: string;
  value: string;
  /** Time of the click according to the cookie, in milliseconds. */
  at?: number;
}
const PLAIN_COOKIES: ReadonlyMap<string, string> = new Map([
  ['epik', 'epik'],
  ['rdt_cid', 'rdt_cid'],
  ['twclid', 'twclid'],
  ['li_fat_id', 'li_fat_id'],
  ['ttclid', 'ttclid'],
  ['qclid', 'qclid'],
]);
/** Cookies of Google's conversion linker: `_gcl_aw`, `_gcl_dc`, `_gcl_gb`, `_gcl_ag`. */
const GOOGLE_COOKIES: ReadonlyMap<string, string> = new Map([
  ['gcl_aw', 'gclid'],
  ['gcl_dc', 'dclid'],
  ['gcl_gb', 'wbraid'],
  ['gcl_ag', 'gbraid'],
]);

/** Extracts the click id from a vendor's cookie. `name` is the cookie's name in `context.vendor_ids`. */
export function clickFromCookie(name: string, value: string): SeenClick | undefined {
  const google = GOOGLE_COOKIES.get(name);
  if (google !== undefined) {
    const match = /^GCL\.(\d{9,11})\.([\w-]+)/.exec(value);
    return match?.[2] ? { param: google, value: match[2], at: Number(match[1]) * 1_000 } : undefined;
  }
  if (name === 'fbc') {
    // Meta's parameter builder appends a part of its own.
    const match = /^fb\.\d\.(\d{12,14})\.([^.]+)/.exec(value);
    return match?.[2] ? { param: 'fbclid', value: match[2], at: Number(match[1]) } : undefined;
  }
  // Microsoft's tag puts `_uet` before the id.
  if (name === 'uetmsclkid') return { param: 'msclkid', value: value.replace(/^_uet/, '') };
  const plain = PLAIN_COOKIES.get(name);
  return plain === undefined ? undefined : { param: plain, value };
}
