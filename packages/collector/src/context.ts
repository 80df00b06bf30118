/** Page and browser context of every event. */
import { option } from './options.ts';
import { page } from './page.ts';

declare const Temporal: { Now: { timeZoneId(): string } };
/** Creating a date formatter takes some 20 ms in a new process; Temporal, if present, gives the name at once. */
const timezone = (page.Temporal as typeof Temporal | undefined)?.Now.timeZoneId() || Intl.DateTimeFormat().resolvedOptions().timeZone;

let referrer = document.referrer;
/** The URL of the last page view. */
export let seen: string;

/** The URL without its anchor. `#/…` and `#!…` are routes of an application and stay; an anchor after them is removed. */
export const address = () => location.href.split('#', '/!'.includes(location.hash[1]!) ? 2 : 1).join('#');

/**
 * Records a page view, automatic or not, so that a URL is not counted twice in a row. In a single-page application the
 * previous URL becomes the referrer.
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
    // Matched by suffix: gclid, fbclid, msclkid, irclickid, gbraid, wbraid and similar. The server finds rarer ones in the URL.
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
