import type { JsonObject } from '../json.ts';
import { CLICK_IDS } from './click-ids.ts';
import { eachParameter, queryOf } from './query.ts';

const CAMPAIGN: ReadonlyMap<string, string> = new Map([
  ['utm_source', 'source'],
  ['utm_medium', 'medium'],
  ['utm_campaign', 'name'],
  ['utm_term', 'term'],
  ['utm_content', 'content'],
]);

const BY_LOWER_CASE: ReadonlyMap<string, string> = new Map(CLICK_IDS.map(({ param }) => [param.toLowerCase(), param]));
const MAX_VALUE = 2_048;

export interface Attribution {
  campaign: JsonObject | undefined;
  click_ids: JsonObject | undefined;
}
const NOTHING: Attribution = { campaign: undefined, click_ids: undefined };

/** Campaign and click ids in a page URL. Names are case-insensitive; the first of repeated parameters wins. */
export function attributionOf(url: string): Attribution {
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
