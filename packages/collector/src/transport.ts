/**
 * Sends what is queued, one request at a time and one tab at a time, and beacons the rest when the page goes away.
 * At least once: an event leaves the queue when it was answered; a repeat carries the same messageId, which the server knows.
 */
import { keepCookie } from './identity.ts';
import { endpoint, key } from './options.ts';
import { attempt, listen } from './page.ts';
import { type Entry, giveUp, markUnclear, put, settle, take } from './queue.ts';
import { isVolatile, read, remove, write } from './storage.ts';

const LOCK = `_df_l${key}`;

let maxEvents: number = L_BATCH_EVENTS;
let failures = 0;
let notBefore = 0;
/** The part of the wait that the server asked for: coming back online does not shorten it. */
let askedUntil = 0;
/** Set while a run is planned or under way. */
let timer = 0;
let leaving = false;
let inFlight: Entry[] = [];
/** Whether the request under way outlives the page. */
let keepalive = false;

/** The four short paths are the first letter of the type, which `{"type":"` puts at index 9. */
const request = (batch: Entry[], writeKey?: string): [url: string, body: string] => {
  const head = `${JSON.stringify({ writeKey, sentAt: new Date() }).slice(0, -1)},`;
  const [[, json]] = batch as [Entry];
  return batch[1]
    ? [`${endpoint}/v1/batch`, `${head}"batch":[${batch.map((entry) => entry[1])}]}`]
    : [`${endpoint}/v1/${json[9]}`, head + json.slice(1)];
};

/** Another tab is sending right now, and will send ours too. Kept in storage so that it can be asked without waiting. */
const isElsewhere = () => !inFlight[0] && +read(LOCK)! > Date.now();

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const drain = async (): Promise<void> => {
  const batch = (inFlight = take(maxEvents, L_BATCH_CHARS, []));
  // Storage reaches other tabs a little later than the lock does; without the pause they would see what was just sent.
  if (!batch[0]) return pause(L_HANDOVER_MS);
  const [url, body] = request(batch);
  keepalive = body.length < L_KEEPALIVE_CHARS;
  write(LOCK, `${Date.now() + L_TIMEOUT_MS}`);
  // Offline, blocked, timed out: all the same to the queue.
  const answer = await attempt(() =>
    fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body,
      credentials: 'include',
      keepalive,
      signal: AbortSignal.timeout?.(L_TIMEOUT_MS),
    }).catch(() => undefined),
  );
  // The browser ends our side of a request just before it says that the page ends: a page that goes on has failed.
  if (!answer) await pause(L_CUT_MS);
  const now = Date.now();
  const status = answer?.status || 500;
  inFlight = [];
  remove(LOCK);

  if (status === 413 && batch[1]) maxEvents = batch.length >> 1;
  else if (status < 500 && status !== 429) {
    failures = 0;
    if (status > 299) giveUp(batch);
    else {
      settle(batch);
      keepCookie();
    }
  } else {
    // 1 s, doubled up to 60 s, with up to a quarter of jitter; longer where the server asks for it, an hour at most.
    const asked = answer?.headers.get('Retry-After') || '';
    askedUntil = now + Math.min(+asked * 1e3 || Date.parse(asked) - now || 0, L_ASKED_MAX_MS);
    notBefore = Math.max(askedUntil, now + Math.min(L_RETRY_MAX_MS, L_RETRY_BASE_MS * 2 ** failures++) * (1 + Math.random() / 4));
    return;
  }
  return drain();
};

const run = async () => {
  if (navigator.onLine) {
    // Web Locks end with their tab. They need a secure page; elsewhere the lease in storage must do.
    if (navigator.locks) await navigator.locks.request(LOCK, drain).catch(drain);
    else if (isElsewhere()) notBefore = Date.now() + 1e3;
    else await drain();
  }
  timer = 0;
  // Left because the server failed, or added while the lock was on its way back.
  if (navigator.onLine && take(1, 0, [])[0]) flush();
};

export const flush = () => {
  timer = timer || (setTimeout(run, Math.max(0, notBefore - Date.now())) as unknown as number);
};

/**
 * The page may never come back, so what is queued leaves as beacons, whose answers nobody sees. Stored events stay where
 * they are while the server is failing or another tab is on them: the next page sends them.
 */
const leave = () => {
  const batch = take(maxEvents, L_KEEPALIVE_CHARS, inFlight);
  const canWait = !isVolatile && (failures || !navigator.onLine || isElsewhere());
  if (batch[0] && !canWait && attempt(() => navigator.sendBeacon(...request(batch, key)))) {
    settle(batch);
    leave();
  }
};

export const enqueue = (json: string, id: string) => {
  put(json, id);
  if (leaving) leave();
  else flush();
};

export const startTransport = (beforeLeaving?: () => void) => {
  const away = () => {
    if (F_CONSENT) beforeLeaving!();
    leave();
  };
  listen(document, 'visibilitychange', () => document.hidden && away());
  listen(window, 'pagehide', () => {
    leaving = true;
    if (keepalive) inFlight = markUnclear(inFlight);
    away();
  });
  const back = () => {
    leaving = false;
    notBefore = askedUntil;
    if (!inFlight[0]) {
      clearTimeout(timer);
      timer = 0;
      flush();
    }
  };
  listen(window, 'pageshow', (event) => (event as PageTransitionEvent).persisted && back());
  listen(window, 'online', back);
  flush();
};
