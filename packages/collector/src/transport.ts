/**
 * Sends what this page has queued, one request at a time, and beacons the rest when the page goes away.
 * At least once: an event leaves the queue when it was answered; a repeat carries the same messageId, which the server knows.
 */
import { keepCookie } from './identity.ts';
import { endpoint, key } from './options.ts';
import { listen } from './page.ts';
import { adopt, type Entry, markUnclear, own, put, settle, take, trim } from './queue.ts';
import { keep, memory, remove, write } from './storage.ts';

let maxEvents: number = L_BATCH_EVENTS;
let failures = 0;
/** Unset until something has failed, which is no wait. */
let notBefore: number;
/** The part of the wait that the server asked for: coming back online does not shorten it. */
let askedUntil: number;
/** Set while a run is planned or under way; and until we have started, which ends in a run. */
let timer = 1;
/** 1 between the end of a page and its coming back. */
let leaving: number;
let inFlight: Entry[] = [];
/** Whether the request under way outlives the page. */
let keepalive: boolean;

/**
 * The four short paths are the first letter of the type, which `{"type":"` puts at index 9. The key is in the body, and the body is
 * plain text to the browser, as with beacons: a header of ours would have it ask the server first, for every page of another origin.
 */
const request = (batch: Entry[]): [url: string, body: string] => {
  const json = batch[0]![1];
  const head = JSON.stringify({ writeKey: key, sentAt: new Date() }).slice(0, -1);
  return [
    `${endpoint}/v1/${batch[1] ? 'batch' : json[9]}`,
    `${head},${batch[1] ? `"batch":[${batch.map((one) => one[1])}]}` : json.slice(1)}`,
  ];
};

/**
 * 1 until the first request is on its way, then 0. What it takes along is in the hands of the browser at once, who sends it even if
 * the page ends; so it is written to the device only when the answer is late or bad, or the page is hidden or left. Mostly it never is.
 */
let fresh = 1;
/** While a request is under way, or because another page asks whether this one lives. */
const hold = () => {
  write(own, Date.now() + L_TIMEOUT_MS);
  keep();
};

const answerOthers = (event: StorageEvent) => {
  if (event.key === own && take(1, 0)[0]) hold();
};

/** Until nothing of this page is left, or the server cannot take it now. */
const run = async (): Promise<void> => {
  const batch = (inFlight = take(maxEvents, L_BATCH_CHARS));
  if (batch[0]) {
    const [url, body] = request(batch);
    keepalive = body.length < L_KEEPALIVE_CHARS;
    let answer: Response | undefined;
    // One that outlives the page has all there is: as many events as make a second request are too many characters for that.
    const late = fresh && keepalive ? setTimeout(hold, L_LATE_MS) : hold();
    fresh = 0;
    try {
      if (navigator.onLine)
        // To its end: a browser takes longer over a body that nobody reads.
        await (answer = await fetch(url, {
          method: 'POST',
          body,
          credentials: 'include',
          keepalive,
          signal: AbortSignal.timeout?.(L_TIMEOUT_MS),
        })).text();
    } catch {
      // Blocked, cut, timed out: all the same to the queue. But the browser ends our side of a request just before it says that the
      // page ends: only a page that goes on has failed.
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
    // 1 s, doubled up to 60 s, with up to a quarter of jitter; longer where the server asks for it, an hour at most.
    const asked = answer?.headers.get('Retry-After') as unknown as number; // without it none of these is a number
    askedUntil = now + Math.min(asked * 1e3 || Date.parse(asked as unknown as string) - now || 0, L_ASKED_MAX_MS);
    notBefore = Math.max(askedUntil, now + Math.min(L_RETRY_MAX_MS, L_RETRY_BASE_MS * 2 ** failures++) * (1 + Math.random() / 4));
    // Other pages see what is left too and will ask; we listen only from now on, because listening to storage costs the page half
    // a millisecond, and events that are soon on their way have no need of it.
    addEventListener('storage', answerOthers);
    keep();
    trim();
  }
  timer = 0;
  if (batch[0]) flush();
  adopt(flush);
};

export const flush = () => {
  timer = timer || (setTimeout(run, notBefore - Date.now()) as unknown as number);
};

/** What is planned for the next turn, in this one: a turn of its own would be another task of the page. */
export const flushNow = () => {
  if (timer && !inFlight[0] && !failures) {
    clearTimeout(timer);
    run();
  }
};

/** Events that wait for consent join the queue. */
let beforeLeaving: () => void;
/**
 * The page may never come back, so what is queued leaves as beacons, whose answers nobody sees. Stored events stay where
 * they are while the server is failing: the next page sends them.
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
