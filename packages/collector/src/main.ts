/** The collector: puts the calls of the page together with what the page is, and hands events to the transport. */
import { notePage, startAutoPage } from './auto-page.ts';
import { deliverClientSide } from './client-side.ts';
import { consent, isGranted, setCategories } from './consent.ts';
import { watchConsentTools } from './consent-tools.ts';
import { browserContext, pageFacts } from './context.ts';
import { startCrossDomain } from './cross-domain.ts';
import { emit, on } from './emitter.ts';
import { anonymousId, forgetCookie, resetIdentity, setUserId, startIdentity, userId } from './identity.ts';
import { globalName, option } from './options.ts';
import { attempt, page, uuid } from './page.ts';
import { read, setOpen, write } from './storage.ts';
import { enqueue, startTransport } from './transport.ts';
import type { Categories, WireEvent } from './types.ts';
import { addVariables } from './variables.ts';
import { vendorIds } from './vendor-ids.ts';

type Fields = Record<string, unknown>;
type Call = ArrayLike<unknown> | ((api: unknown) => void);

const CONSENT = '_df_c';
const MAX_HELD = 1000;

let waiting = F_CONSENT;
const held: string[] = [];

/** Consent and what depends on it are added last: an event that waited carries what is known now. */
const release = (event: WireEvent) => {
  const { context } = event;
  if (consent()) context.consent = { ...(context.consent as Fields), categories: consent() };
  if (F_VENDOR_IDS) context.vendor_ids = { ...vendorIds(), ...(context.vendor_ids as Fields) };
  enqueue(JSON.stringify(event), event.messageId);
  if (F_CLIENT_SIDE) deliverClientSide(event);
};

const capture = (type: WireEvent['type'], fields: Fields, options?: Fields) => {
  const event: WireEvent = {
    type, // first: the transport reads the path from it
    messageId: uuid(),
    timestamp: new Date().toISOString(),
    anonymousId: anonymousId(),
    userId: userId(),
    ...fields,
    ...options,
    context: { ...browserContext(), challenge_token: option('challengeToken'), ...((options && options.context) as Fields) },
  };
  if (F_VARIABLES) addVariables(event);
  if (!waiting) release(event);
  else if (held.length < MAX_HELD) held.push(JSON.stringify(event));
  emit(type, event);
};

const stopWaiting = () => {
  waiting = false;
  for (const json of held.splice(0)) attempt(() => release(JSON.parse(json)));
};

const setConsent = (categories: Categories) => {
  const text = JSON.stringify(categories);
  const changed = text !== read(CONSENT);
  setCategories(JSON.parse(text));
  if (F_GATE) {
    const granted = isGranted(C_REQUIRED);
    setOpen(granted);
    if (!granted) forgetCookie();
  }
  write(CONSENT, text);
  emit('consent', categories);
  if (waiting) stopWaiting();
  else if (changed) capture('track', { event: 'Consent Updated', properties: { categories } });
};

const methods: Record<string, (...args: never[]) => void> = {
  track: (event: string, properties?: Fields, options?: Fields) => capture('track', { event, properties }, options),
  page: (name?: string | Fields, properties?: Fields, options?: Fields) => {
    notePage();
    const named = typeof name === 'string';
    capture('page', { name: named ? name : undefined, properties: { ...pageFacts(), ...(named ? properties : name) } }, options);
  },
  identify: (id?: string | Fields, traits?: Fields, options?: Fields) => {
    const named = id !== null && typeof id !== 'object' && id !== undefined;
    if (named) setUserId(String(id));
    if (userId()) capture('identify', { traits: named ? traits : id }, options);
  },
  group: (groupId: string, traits?: Fields, options?: Fields) => capture('group', { groupId: String(groupId), traits }, options),
  consent: (categories: Categories | ((tell: (categories: Categories) => void) => void)) => {
    if (typeof categories === 'function') categories((given) => attempt(() => setConsent(given)));
    else setConsent(categories);
  },
  reset: resetIdentity,
  ready: (handler: () => void) => handler(),
  on: on as (...args: never[]) => void,
};

/** The queue that stood in for us becomes the collector itself, so references to it stay good. */
const api = (page[globalName] = page[globalName] || []) as Record<string, unknown> & Call[];

const push = (call: Call) =>
  attempt(() => {
    if (typeof call === 'function') return call(api);
    const [name, ...args] = Array.from(call);
    methods[name as string]!(...(args as never[]));
  });

const start = () => {
  const early = Array.isArray(api) ? api.splice(0) : [];
  for (const name in methods) api[name] = (...args: unknown[]) => void push([name, ...args]);
  api.push = ((...calls: Call[]) => calls.forEach(push)) as typeof api.push;

  startIdentity();
  if (F_CROSS_DOMAIN) startCrossDomain();
  if (!F_CONSENT || P_CUSTOM) {
    // Nobody but the page itself tells, and it need not on every page.
    const last = read(CONSENT);
    if (last) attempt(() => setConsent(JSON.parse(last)));
  }
  if (F_CONSENT) {
    const waitMs = +(option('waitMs') || C_WAIT_MS);
    watchConsentTools(setConsent, waitMs);
    setTimeout(stopWaiting, waitMs);
  }
  early.forEach(push);
  if (F_AUTO_PAGE && option('autoPage') !== 'false') startAutoPage(() => push(['page']));
  startTransport(stopWaiting);
};

// Twice in a page is once; a page that is only being prepared is not yet seen.
if (!api.v) {
  attempt(() => {
    api.v = 1;
    if ((document as { prerendering?: boolean }).prerendering) document.addEventListener('prerenderingchange', start, { once: true });
    else start();
  });
}
