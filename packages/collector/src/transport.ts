/**
 * Sends the events of this page, one request at a time, and the rest as beacons when the page is left. Delivery is at least
 * once: an event leaves the queue after the reply, and a repeat has the same messageId, by which the server deduplicates.
 */
import { anonymousId, keepCookie } from './identity.ts';
import { endpoint, key } from './options.ts';
import { listen } from './page.ts';
import { adopt, type Entry, markUnclear, own, put, settle, take, trim } from './queue.ts';
import { keep, memory, remove, write } from './storage.ts';

let maxEvents: number = L_BATCH_EVENTS;
let failures = 0;
/** Earliest time of the next request. Undefined until a request has failed, which means no wait. */
let notBefore: number;
/** End of the `Retry-After` wait, which coming back online does not shorten. */
let askedUntil: number;
/** Non-zero while a run is scheduled or in progress, and before the start, which begins with a run. */
let timer: ReturnType<typeof setTimeout> | number = 1;
/** 1 between `pagehide` and `pageshow`. */
let leaving: number;
let inFlight: Entry[] = [];
/** Whether the request in flight outlives the page. */
let keepalive: boolean;

/**
 * The short paths are the first letter of the type, at index 9 after `{"type":"`. The key is in the body, and the body is
 * text/plain, as with beacons: a custom header would need a preflight on pages of another origin.
 */
const request = (batch: Entry[]): [url: string, body: string] => {
  const json = batch[0]![1];
  const head = JSON.stringify({ writeKey: key, cookieId: anonymousId(), sentAt: new Date() }).slice(0, -1);
  return [
    `${endpoint}/v1/${batch[1] ? 'batch' : json[9]}`,
    `${head},${batch[1] ? `"batch":[${batch.map((one) => one[1])}]}` : json.slice(1)}`,
  ];
};

/**
 * 1 until the first request is sent, then 0. The browser sends that request even if the page ends. Its events are therefore stored only if
 * the reply is late or a failure, or if the page is hidden or left: usually never.
 */
let fresh = 1;
/** Marks this page as alive: during a request, or when another page asks. */
const hold = () => {
  write(own, Date.now() + L_TIMEOUT_MS);
  keep();
};

const answerOthers = (event: StorageEvent) => {
  if (event.key === own && take(1, 0)[0]) hold();
};

/** Sends until this page's queue is empty or a request must be retried later. */
const run = async (): Promise<void> => {
  const batch = (inFlight = take(maxEvents, L_BATCH_CHARS));
  if (batch[0]) {
    const [url, body] = request(batch);
    keepalive = body.length < L_KEEPALIVE_CHARS;
    let answer: Response | undefined;
    // A keepalive request contains the whole queue: enough events for a second request would exceed L_KEEPALIVE_CHARS.
    const late = fresh && keepalive ? setTimeout(hold, L_LATE_MS) : hold();
    fresh = 0;
    try {
      if (navigator.onLine)
        // Reads the body completely: the browser takes longer over an unread one.
        await (answer = await fetch(url, {
          method: 'POST',
          body,
          credentials: 'include',
          keepalive,
          signal: AbortSignal.timeout?.(L_TIMEOUT_MS),
        })).text();
    } catch {
      // Blocked, cut off or timed out. The browser aborts requests just before `pagehide`: wait, so that only a page that
      // continues counts this as a failure.
      await new Promise((done) => setTimeout(done, L_CUT_MS));
    }
    const now = Date.now();
    const status = answer?.status || 500;
    inFlight = [];
    clearTimeout(late as number);
    remove(own);

    if (status < 500 && status !== 429) {
      failures = 0;
      if (status === 413 && batch[1]) maxEvents = batch.length >> 1;
      else {
        settle(batch, status > 299 && 'error');
        keepCookie();
      }
      return run();
    }
    // 1 s, doubled up to 60 s, plus up to 25 % jitter; longer if `Retry-After` says so, at most an hour.
    const asked = answer?.headers.get('Retry-After') as string; // absent: 0 below
    askedUntil = now + Math.min(+asked * 1e3 || Date.parse(asked) - now || 0, L_ASKED_MAX_MS);
    notBefore = Math.max(askedUntil, now + Math.min(L_RETRY_MAX_MS, L_RETRY_BASE_MS * 2 ** failures++) * (1 + Math.random() / 4));
    // From now on other pages may ask for these events. The listener is not added earlier because it costs the page half a
    // millisecond.
    addEventListener('storage', answerOthers);
    keep();
    trim();
  }
  timer = 0;
  if (batch[0]) flush();
  adopt(flush);
};

export const flush = () => {
  timer = timer || setTimeout(run, notBefore - Date.now());
};

/** Runs a scheduled run now: a timer would be another task of the page. */
export const flushNow = () => {
  if (timer && !inFlight[0] && !failures) {
    clearTimeout(timer);
    run();
  }
};

/** Moves events that wait for consent to the queue. */
let beforeLeaving: () => void;
/**
 * The page may never come back, so queued events are sent as beacons, whose replies are not seen. While the server fails,
 * stored events stay for the next page.
 */
const leave = () => {
  fresh = 0;
  keep();
  if (F_CONSENT) beforeLeaving();
  for (
    let batch: Entry[];
    (batch = take(maxEvents, L_KEEPALIVE_CHARS, own, inFlight))[0] &&
    (batch[0][0] in memory || (!failures && navigator.onLine)) &&
    navigator.sendBeacon(...request(batch));
  )
    settle(batch);
};

export const enqueue = (json: string) => {
  put(json, fresh);
  if (leaving) leave();
  else flush();
};

export const startTransport = (before?: () => void) => {
  if (F_CONSENT) beforeLeaving = before!;
  listen('visibilitychange', () => document.hidden && leave());
  listen('pagehide', () => {
    leaving = 1;
    if (keepalive) markUnclear(inFlight);
    leave();
    remove(own);
  });
  const back = () => {
    leaving = 0;
    notBefore = askedUntil;
    if (!inFlight[0]) {
      clearTimeout(timer);
      timer = 0;
      flush();
    }
  };
  listen('pageshow', (event) => (event as PageTransitionEvent).persisted && back());
  listen('online', back);
  run();
};
