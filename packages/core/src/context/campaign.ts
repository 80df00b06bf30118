import type { JsonObject } from '../json.ts';
import { eachParameter, queryOf } from './query.ts';

const CAMPAIGN: ReadonlyMap<string, string> = new Map([
  ['utm_source', 'source'],
  ['utm_medium', 'medium'],
  ['utm_campaign', 'name'],
  ['utm_term', 'term'],
  ['utm_content', 'content'],
]);

/** Ad platforms' click ids, by parameter name as the platform writes it. */
export const CLICK_IDS: readonly string[] = [
  'gclid',
  'gbraid',
  'wbraid',
  'dclid',
  'fbclid',
  'ttclid',
  'msclkid',
  'ScCid',
  'epik',
  'li_fat_id',
  'rdt_cid',
  'twclid',
  'qclid',
  'ndclid',
  'tblci',
  'dicbo',
  'aleid',
  'oppref',
  'ttd_id',
  'aref_id',
  'maas',
  'yclid',
  'irclickid',
  'wickedid',
];
const BY_LOWER_CASE: ReadonlyMap<string, string> = new Map(CLICK_IDS.map((name) => [name.toLowerCase(), name]));
const MAX_VALUE = 2_048;

export interface UrlFacts {
  campaign: JsonObject | undefined;
  click_ids: JsonObject | undefined;
}
const NOTHING: UrlFacts = { campaign: undefined, click_ids: undefined };

/** Campaign and click ids of a page address. The first of several equal parameters counts; names in any case. */
export function urlFacts(url: string): UrlFacts {
  const query = queryOf(url);
  if (query === undefined || query === '') return NOTHING;
  let campaign: JsonObject | undefined;
  let clickIds: JsonObject | undefined;
  eachParameter(query, (name, value) => {
    if (value === '' || value.length > MAX_VALUE) return;
    const lower = name.toLowerCase();
    const field = CAMPAIGN.get(lower);
    if (field !== undefined) {
      campaign ??= {};
      campaign[field] ??= value;
      return;
    }
    const id = BY_LOWER_CASE.get(lower);
    if (id !== undefined) {
      clickIds ??= {};
      clickIds[id] ??= value;
    }
  });
  return { campaign, click_ids: clickIds };
}
