/** The page, campaign, device and app of an event, under a vendor's own names. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { from, type Transform } from './mapping.ts';
import * as source from './sources.ts';

const FIELDS = {
  url: [source.PAGE_URL],
  path: ['context.page.path'],
  host: [source.PAGE_URL, 'url_host'],
  referrer: [source.REFERRER],
  title: ['context.page.title'],
  ip: ['context.ip'],
  user_agent: ['context.user_agent'],
  locale: ['context.locale'],
  timezone: ['context.timezone'],
  utm_source: ['context.campaign.source'],
  utm_medium: ['context.campaign.medium'],
  utm_campaign: ['context.campaign.name'],
  utm_term: ['context.campaign.term'],
  utm_content: ['context.campaign.content'],
  browser: ['context.browser.name'],
  browser_version: ['context.browser.version', 'to_string'],
  os: ['context.os.name'],
  os_version: ['context.os.version', 'to_string'],
  device_type: ['context.device.type'],
  manufacturer: ['context.device.manufacturer'],
  model: ['context.device.model'],
  app_name: ['context.app.name'],
  app_version: ['context.app.version', 'to_string'],
  app_id: ['context.app.namespace'],
  screen_width: ['context.screen.width', 'to_integer'],
  screen_height: ['context.screen.height', 'to_integer'],
  country: ['context.geo.country'],
  region: ['context.geo.region'],
  city: ['context.geo.city'],
} as const satisfies Record<string, readonly [string | string[], ...Transform[]]>;

/** The vendor's name of each field. A field without a name is not sent. */
export type ContextNames = Partial<Record<keyof typeof FIELDS, string>>;

/** Lines that write into `at`, such as `properties`. */
export function contextLines(at: string, names: ContextNames): JsonObject[] {
  return Object.entries(names).map(([key, name]) => {
    const [path, ...transforms]: readonly [string | string[], ...Transform[]] = FIELDS[key as keyof typeof FIELDS];
    return from(path, at === '' ? name : `${at}.${name}`, transforms);
  });
}
