/** What every event says about the page and the browser it comes from. */
import { option } from './options.ts';
import { page } from './page.ts';

declare const Temporal: { Now: { timeZoneId(): string } };
/** A formatter takes a new process some 20 ms to make; Temporal knows the name at once, where the browser has it. */
const timezone = (page.Temporal as typeof Temporal | undefined)?.Now.timeZoneId() || Intl.DateTimeFormat().resolvedOptions().timeZone;

let referrer = document.referrer;
/** The address that was counted last. */
export let seen: string;

/** An anchor is the same page; `#/…` and `#!…` are the routes of an application, which may have anchors too. */
export const address = () => location.href.split('#', '/!'.includes(location.hash[1]!) ? 2 : 1).join('#');

/**
 * Every page view is noted, the page's own calls too: an address is not counted twice in a row, and in a single-page
 * application the page before is the referrer of the next one.
 */
export const notePage = () => {
  if (seen !== address()) referrer = seen || referrer;
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
    if (name.slice(0, 4) === 'utm_') campaign[name.slice(4).replace('campaign', 'name')] = value;
    // By their ends: gclid, fbclid, msclkid, irclickid and their kin, gbraid and wbraid. Rarer ones the server finds in the address.
    if ('clid clkid clickid braid ScCid'.split(' ').some((end) => name.endsWith(end))) clickIds[name] = value;
  });
  return {
    page: pageFacts(),
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
