/**
 * Consent tools. Each `look` is retried until its tool is present, then reports every change. In automatic mode all of them run.
 * An earlier one in the list wins, because many tools also report through TCF and Google's consent mode.
 */
import { attempt, listen, page } from './page.ts';
import type { Categories } from './types.ts';

type Tell = (categories: Categories) => void;
/** True once attached. */
type Look = (tell: Tell, waitMs: number) => unknown;

const has = (name: string): unknown => page[name];
/** Reads the state now and on each of these events. */
const onEvents = (names: string, readState: () => void) => {
  for (const name of names.split(' ')) listen(name, readState);
  readState();
  return true;
};
const mapValues = (from: Record<string, unknown>, value: (entry: never) => boolean): Categories => {
  const out: Record<string, boolean> = {};
  for (const name in from) out[name] = value(from[name] as never);
  return out;
};

/** `OnetrustActiveGroups` lists the granted groups: ",C0001,C0002,". The domain data lists all groups of the page. */
const oneTrust: Look = (tell) => {
  if (typeof has('OnetrustActiveGroups') !== 'string' || !has('OneTrust')) return;
  return onEvents('OneTrustGroupsUpdated', () => {
    const active = String(has('OnetrustActiveGroups')).split(',').filter(Boolean);
    const out: Record<string, boolean> = {};
    attempt(() => {
      const tool = has('OneTrust') as { GetDomainData(): { Groups: { CustomGroupId: string }[] } };
      for (const group of tool.GetDomainData().Groups) out[group.CustomGroupId] = false;
    });
    for (const name of active) out[name] = true;
    tell(out);
  });
};

interface Cookiebot {
  hasResponse?: boolean;
  consented?: boolean;
  consent: Record<string, unknown>;
}
const cookiebot: Look = (tell) =>
  has('Cookiebot') &&
  onEvents('CookiebotOnConsentReady CookiebotOnAccept CookiebotOnDecline', () => {
    const { hasResponse, consented, consent } = has('Cookiebot') as Cookiebot;
    if (!hasResponse && !consented) return;
    const { necessary, preferences, statistics, marketing } = consent;
    tell({ necessary, preferences, statistics, marketing });
  });

interface UsercentricsV3 {
  getConsentDetails(): Promise<{ consent?: { required?: boolean }; categories: Record<string, { state: string }> }>;
}
interface UsercentricsV2 {
  isInitialized(): boolean;
  isConsentRequired?(): boolean;
  getServicesBaseInfo(): { categorySlug: string; consent: { status: boolean } }[];
}
/**
 * A category is granted if every service in it is. While consent is still required the reported state is ignored: some sites
 * preset services before the visitor has decided.
 */
const usercentrics: Look = (tell) => {
  const three = has('__ucCmp') as UsercentricsV3 | undefined;
  const two = has('UC_UI') as UsercentricsV2 | undefined;
  if (!three && !two?.isInitialized()) return;
  return onEvents('UC_UI_INITIALIZED UC_UI_CMP_EVENT UC_CONSENT', () => {
    if (three)
      three.getConsentDetails().then(
        ({ consent, categories }) =>
          consent?.required || tell(mapValues(categories, (entry: { state: string }) => entry.state === 'ALL_ACCEPTED')),
        () => undefined, // read again at the tool's next event
      );
    else if (!two!.isConsentRequired?.()) {
      const out: Record<string, boolean> = {};
      for (const { categorySlug: slug, consent } of two!.getServicesBaseInfo()) out[slug] = out[slug] !== false && consent.status;
      tell(out);
    }
  });
};

interface Didomi {
  shouldUserStatusBeCollected?(): boolean;
  getCurrentUserStatus(): { purposes: Record<string, { enabled: boolean }> };
}
const didomi: Look = (tell) => {
  const tool = has('Didomi') as Didomi | undefined;
  if (!tool?.getCurrentUserStatus) return;
  const readState = () => {
    if (!tool.shouldUserStatusBeCollected?.())
      tell(mapValues(tool.getCurrentUserStatus().purposes, (entry: { enabled: boolean }) => entry.enabled));
  };
  // Before adding the listener: this throws if the tool is not ready, and the look is retried.
  readState();
  const listeners = (page.didomiEventListeners = page.didomiEventListeners || []) as unknown[];
  return listeners.push({ event: 'consent.changed', listener: () => attempt(readState) });
};

interface Osano {
  getConsent(): Record<string, string>;
  addEventListener(name: string, handler: () => void): void;
}
const osano: Look = (tell) => {
  const tool = ((has('Osano') || {}) as { cm?: Osano }).cm;
  if (!tool) return;
  const readState = () => {
    const state = tool.getConsent();
    if (state && Object.keys(state)[0]) tell(mapValues(state, (entry: string) => entry === 'ACCEPT'));
  };
  readState();
  tool.addEventListener('osano-cm-consent-saved', () => attempt(readState));
  return true;
};

interface TcData {
  eventStatus: string;
  gdprApplies?: boolean;
  purpose: { consents: Record<string, boolean> };
}
/** IAB TCF v2.2: purposes as `purpose_1` to `purpose_11`. All are granted if GDPR does not apply. */
const tcf: Look = (tell) => {
  const api = has('__tcfapi');
  if (typeof api !== 'function') return;
  api('addEventListener', 2, (data: TcData, ok: boolean) =>
    attempt(() => {
      if (!ok || (data.gdprApplies !== false && data.eventStatus === 'cmpuishown')) return;
      const out: Record<string, boolean> = {};
      for (let i = 1; i < 12; i++) out[`purpose_${i}`] = data.gdprApplies === false || !!data.purpose.consents[i];
      tell(out);
    }),
  );
  return true;
};

/**
 * Google's consent mode: `gtag('consent', …)` pushes its arguments to the data layer; later updates win. Defaults count only
 * after `waitMs`, because the visitor's choice usually follows them. If several defaults differ (they may be for regions that
 * the page cannot know), a denial wins.
 */
const google: Look = (tell, waitMs) => {
  const layer = has('dataLayer') as { push: (...items: ArrayLike<unknown>[]) => number } & ArrayLike<unknown>[];
  if (!layer?.push) return;
  const state: Record<string, unknown> = {};
  let final = false;
  const note = (items: ArrayLike<unknown>[]) => {
    const before = JSON.stringify(state);
    for (const item of items) {
      if (item?.[0] !== 'consent' || !/^(default|update)$/.test(item[1] as string)) continue;
      const signals = item[2] as Record<string, unknown>;
      const isUpdate = item[1] === 'update';
      for (const name in signals)
        if (/_(storage|user_data|personalization)$/.test(name) && (isUpdate || state[name] !== 'denied')) state[name] = signals[name];
      final = final || isUpdate;
    }
    if (final && before !== JSON.stringify(state)) tell({ ...state });
  };
  const original = layer.push;
  layer.push = (...items) => {
    const result = original.apply(layer, items);
    attempt(() => note(items));
    return result;
  };
  note(Array.from(layer));
  setTimeout(() => {
    final = true;
    if (Object.keys(state)[0]) attempt(() => tell({ ...state }));
  }, waitMs);
  return true;
};

const LOOKS: Look[] = [];
if (P_ONETRUST) LOOKS.push(oneTrust);
if (P_COOKIEBOT) LOOKS.push(cookiebot);
if (P_USERCENTRICS) LOOKS.push(usercentrics);
if (P_DIDOMI) LOOKS.push(didomi);
if (P_OSANO) LOOKS.push(osano);
if (P_TCF) LOOKS.push(tcf);
if (P_GOOGLE) LOOKS.push(google);

/** Returns a function that looks for the tools once more. */
export const watchConsentTools = (tell: Tell, waitMs: number) => {
  let best = LOOKS.length;
  const waiting: (Look | undefined)[] = LOOKS.slice();
  let looks = 0;
  const lookAround = () =>
    waiting.forEach((look, rank) => {
      const tellRanked: Tell = (categories) => {
        if (rank > best) return;
        best = rank;
        tell(categories);
      };
      if (look && attempt(() => look(tellRanked, waitMs))) waiting[rank] = undefined;
    });
  const search = () => {
    lookAround();
    // Growing intervals, then every 3 s. Stops when the first tool of the list has reported, or after about five minutes.
    const pause = 100 * 2 ** ++looks;
    if (best && looks < 100) setTimeout(search, pause < Math.min(waitMs, 3e3) ? pause : 3e3);
  };
  search();
  return lookAround;
};
