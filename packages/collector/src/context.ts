/** What every event says about the page and the browser it comes from. */
import { option } from './options.ts';
import { page } from './page.ts';

declare const Temporal: { Now: { timeZoneId(): string } };
/** gclid, fbclid, msclkid, irclickid and their kin, gbraid and wbraid, and those with names of their own. */
const CLICK_IDS = /(cl(k|ick)?id|braid|sccid|epik|li_fat_id|rdt_cid|tblci|dicbo)$/i;
/** A formatter takes a new process some 20 ms to make; Temporal knows the name at once, where the browser has it. */
const timezone = (page.Temporal as typeof Temporal | undefined)?.Now.timeZoneId() || Intl.DateTimeFormat().resolvedOptions().timeZone;

let referrer = document.referrer;
/** The address that was counted last. */
export let seen: string;

/** An anchor is the same page; `#/…` and `#!…` are the routes of an application. */
export const address = () => location.href.replace(/#([^/!].*)?$/, '');

/**
 * Every page view is noted, the page's own calls too: an address is not counted twice in a row, and in a single-page
 * application the page before is the referrer of the next one.
 */
export const notePage = () => {
  if (seen && seen !== address()) referrer = seen;
  seen = address();
};

export const pageFacts = () => ({
  url: location.href,
  path: location.pathname,
  search: location.search,
  title: document.title,
  referrer,
});

export const browserContext = (): Record<string, unknown> => {
  const campaign: Record<string, string> = {};
  const clickIds: Record<string, string> = {};
  new URLSearchParams(location.search).forEach((value, name) => {
    if (/^utm_/.test(name)) campaign[name.slice(4).replace('campaign', 'name')] = value;
    if (CLICK_IDS.test(name)) clickIds[name] = value;
  });
  return {
    page: pageFacts(),
    userAgent: navigator.userAgent,
    locale: navigator.language,
    timezone,
    screen: { width: screen.width, height: screen.height, density: devicePixelRatio },
    campaign,
    click_ids: clickIds,
    gpc: (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl,
    dnt: navigator.doNotTrack === '1',
    challenge_token: option('challengeToken'),
  };
};
