/** The collector: builds events from the calls and the context of the page, and passes them to the transport. */
import { startAutoPage } from './auto-page.ts';
import { deliverClientSide } from './client-side.ts';
import { isGranted } from './consent.ts';
import { watchConsentTools } from './consent-tools.ts';
import { browserContext, notePage, pageFacts } from './context.ts';
import { startCrossDomain } from './cross-domain.ts';
import { emit, on } from './emitter.ts';
import { anonymousId, askCookie, forgetCookie, ID, resetIdentity, USER } from './identity.ts';
import { option } from './options.ts';
import { attempt, cookie, listen, page, uuid } from './page.ts';
import { read, setOpen, write } from './storage.ts';
import { enqueue, flushNow, startTransport } from './transport.ts';
import type { Categories, WireEvent } from './types.ts';
import { addVariables } from './variables.ts';
import { vendorIds } from './vendor-ids.ts';

type Fields = Record<string, unknown>;
/** Method name and arguments. May be the `arguments` object of a page's stub. */
type Call = Iterable<unknown>;

const CONSENT = '_df_c';

/** Undefined until consent is known. */
let known: Categories | undefined;
let waiting = true;
const held: string[] = [];

/** Consent and everything that depends on it are added last, so a held event carries the latest state. */
const release = (event: WireEvent) => {
  const context = event.context;
  if (known) context.consent = { ...(context.consent as Fields), categories: known };
  if (F_VENDOR_IDS) context.vendor_ids = { ...vendorIds(known), ...(context.vendor_ids as Fields) };
  enqueue(JSON.stringify(event));
  if (F_CLIENT_SIDE) deliverClientSide(JSON.parse(JSON.stringify(event)), known);
};

const capture = (type: WireEvent['type'], fields: Fields, options?: Fields) => {
  const event: WireEvent = {
    type, // must be first: the transport derives the path from it
    messageId: uuid(),
    timestamp: new Date(), // ISO 8601 in JSON
    anonymousId: anonymousId(),
    userId: read(USER),
    ...fields,
    ...options,
    context: { ...browserContext(), ...(options?.context as Fields) },
  };
  if (F_VARIABLES) addVariables(event);
  if (!F_CONSENT || !waiting) release(event);
  else if (held.length < L_HELD_EVENTS) held.push(JSON.stringify(event));
  emit(type, event);
};

const stopWaiting = () => {
  waiting = false;
  for (const json of held.splice(0)) attempt(() => release(JSON.parse(json)));
};

const setConsent = (categories: Categories) => {
  const text = JSON.stringify(categories);
  const changed = text !== read(CONSENT);
  known = categories;
  if (F_GATE) {
    const granted = isGranted(C_REQUIRED, known);
    setOpen(granted);
    if (!granted) forgetCookie();
  }
  write(CONSENT, text);
  emit('consent', categories);
  if (F_CONSENT && waiting) stopWaiting();
  else if (changed) capture('track', { event: 'Consent Updated', properties: { categories } });
};

const methods: Record<string, (...args: never[]) => void> = {
  track: (event: string, properties?: Fields, options?: Fields) => capture('track', { event, properties }, options),
  page: (name?: string, properties?: Fields, options?: Fields) => {
    notePage();
    capture('page', { name, properties: { ...pageFacts(), ...properties } }, options);
  },
  identify: (id?: string | null, traits?: Fields, options?: Fields) => {
    if (id) write(USER, `${id}`);
    if (read(USER)) capture('identify', { traits }, options);
  },
  group: (id: string, traits?: Fields, options?: Fields) => id && capture('group', { groupId: `${id}`, traits }, options),
  consent: P_CUSTOM
    ? (categories: Categories | ((tell: (categories: Categories) => void) => void)) => {
        if (typeof categories === 'function') categories((given) => attempt(() => setConsent(given)));
        else setConsent(categories);
      }
    : setConsent,
  reset: resetIdentity,
  ready: attempt,
  on: on as (...args: never[]) => void,
};

/** The page's queue becomes the collector itself, so references to it stay valid. */
const api = (page[C_GLOBAL] = (page[C_GLOBAL] as Call[] | undefined)?.push ? page[C_GLOBAL] : []) as Pick<Call[], 'splice'> & {
  push(call: Call): unknown;
  page(): void;
  v: 1;
  [method: string]: unknown;
};

const push = (call: Call) =>
  attempt(() => {
    const [name, ...args] = call;
    // `page` and `identify` may omit their first argument.
    const [first] = args;
    if ('pi'.includes((name as string)[0]!) && Object(first) === first) args.unshift(undefined);
    methods[name as string]!(...(args as never[]));
  });

/** The id from a cross-domain link. */
let passed: string | undefined;
/** Starts once the cookie is read. */
const begin = (id?: string) => {
  if (api.push === push) return;
  if (F_CROSS_DOMAIN) id = passed || id;
  if (id) write(ID, id);
  const kept = read(CONSENT);
  // Only the page reports consent here, and not necessarily on every page.
  if ((!F_CONSENT || P_CUSTOM) && kept) attempt(() => setConsent(JSON.parse(kept)));
  if (F_CONSENT) {
    const waitMs = +(option('waitMs') || C_WAIT_MS);
    const lookAround = watchConsentTools(setConsent, waitMs);
    setTimeout(() => {
      lookAround();
      stopWaiting();
      flushNow();
    }, waitMs);
  }
  api.push = push;
  api.splice(0).forEach(push);
  if (option('autoPage') !== 'false') startAutoPage(methods.page!);
  startTransport(...(F_CONSENT ? [stopWaiting] : []));
};

const start = () => {
  for (const name in methods) api[name] = (...args: unknown[]) => api.push([name, ...args]);
  if (F_CROSS_DOMAIN) passed = startCrossDomain();
  askCookie(begin);
  // The page is left before the cookie was read.
  listen('pagehide', () => api.push === push || begin(cookie(ID)));
};

// Runs once even if the tag is there twice. A prerendered page starts when it is shown.
if (!api.v) {
  attempt(() => {
    api.v = 1;
    if ((document as { prerendering?: boolean }).prerendering) listen('prerenderingchange', start);
    else start();
  });
}
