/** What every event says about the page and the browser it comes from. */
const CLICK_IDS =
  /^(gclid|gbraid|wbraid|dclid|fbclid|ttclid|msclkid|ScCid|epik|li_fat_id|rdt_cid|twclid|qclid|ndclid|tblci|dicbo|yclid|irclickid)$/i;

let referrer = document.referrer;
/** In a single-page application the page before is the referrer of the next one. */
export const setReferrer = (url: string) => {
  referrer = url;
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
    if (/^utm_/.test(name)) campaign[name === 'utm_campaign' ? 'name' : name.slice(4)] = value;
    if (CLICK_IDS.test(name)) clickIds[name] = value;
  });
  const nav = navigator as Navigator & { globalPrivacyControl?: boolean };
  return {
    page: pageFacts(),
    userAgent: nav.userAgent,
    locale: nav.language,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    screen: { width: screen.width, height: screen.height, density: devicePixelRatio },
    campaign,
    click_ids: clickIds,
    gpc: nav.globalPrivacyControl || undefined,
    dnt: nav.doNotTrack === '1' || undefined,
  };
};
