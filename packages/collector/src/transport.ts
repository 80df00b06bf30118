/**
 * Sends what is queued, one request at a time and one tab at a time, and beacons the rest when the page goes away.
 * At least once: an event leaves the queue when it was answered; a repeat carries the same messageId, which the server knows.
 */
import { keepCookie } from './identity.ts';
import { endpoint, key } from './options.ts';
import { attempt, listen, uuid } from './page.ts';
import { type Entry, giveUp, put, settle, take } from './queue.ts';
import { read, remove, write } from './storage.ts';

const TIMEOUT_MS = 2e4;
/** All `keepalive` requests and beacons of a page may hold 64 KB together; a character may take three bytes. */
const KEEPALIVE_CHARS = 2e4;
const LOCK = `_df_l${key}`;
const TAB = uuid();

let maxEvents = 100;
let failures = 0;
let notBefore = 0;
/** The part of the wait that the server asked for: coming back online does not shorten it. */
let askedUntil = 0;
let timer = 0;
let busy = false;
let again = false;
let leaving = false;
let inFlight: Entry[] = [];

/** The four short paths are the first letter of the type, which `{"type":"` puts at index 9. */
const request = (batch: Entry[], extra: Record<string, string>): [url: string, body: string] => {
  const head = `{${JSON.stringify({ ...extra, sentAt: new Date() }).slice(1, -1)},`;
  return batch[1]
    ? [`${endpoint}/v1/batch`, `${head}"batch":[${batch.map((entry) => entry.json)}]}`]
    : [`${endpoint}/v1/${batch[0]!.json[9]}`, head + batch[0]!.json.slice(1)];
};

/** Another tab is sending right now, and will send ours too. Kept in storage so that it can be asked without waiting. */
const isElsewhere = () => {
  const [tab, until] = (read(LOCK) || '').split(' ');
  return tab !== TAB && +until! > Date.now();
};

const post = async (batch: Entry[]): Promise<Response | undefined> => {
  const [url, body] = request(batch, {});
  const abort = new AbortController();
  const timeout = setTimeout(() => abort.abort(), TIMEOUT_MS);
  inFlight = batch;
  write(LOCK, `${TAB} ${Date.now() + TIMEOUT_MS}`);
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body,
      credentials: 'include',
      keepalive: body.length < KEEPALIVE_CHARS,
      signal: abort.signal,
    });
  } catch {
    return undefined; // offline, blocked, timed out: all the same to the queue
  } finally {
    clearTimeout(timeout);
    inFlight = [];
    remove(LOCK);
  }
};

/** Whether to go on with the next batch. */
const send = async (batch: Entry[]): Promise<boolean> => {
  const answer = await post(batch);
  const status = answer ? answer.status : 0;
  if (status === 413 && batch[1]) {
    maxEvents = batch.length >> 1;
    return true;
  }
  if (status && status < 500 && status !== 429) {
    failures = 0;
    settle(batch);
    if (status < 300) keepCookie();
    else batch.forEach(giveUp);
    return true;
  }
  // 1 s, doubled up to 60 s, with up to a quarter of jitter; longer where the server asks for it, an hour at most.
  const asked = (answer && answer.headers.get('Retry-After')) || 0;
  const askedMs = +asked * 1e3 || Date.parse(asked as string) - Date.now() || 0;
  askedUntil = Date.now() + Math.min(askedMs, 36e5);
  notBefore = Math.max(askedUntil, Date.now() + Math.min(6e4, 1e3 * 2 ** failures++) * (1 + Math.random() / 4));
  again = true;
  return false;
};

const drain = async () => {
  for (let batch = take(maxEvents, 2e5, []); batch[0]; batch = take(maxEvents, 2e5, [])) if (!(await send(batch))) break;
};

const run = async () => {
  timer = 0;
  if (busy || navigator.onLine === false) return;
  busy = true;
  again = false;
  // Web Locks end with their tab. They need a secure page; elsewhere the lease in storage must do.
  if (navigator.locks) await navigator.locks.request(LOCK, drain).catch(drain);
  else if (isElsewhere()) {
    again = true;
    notBefore = Date.now() + 1e3;
  } else await drain();
  busy = false;
  if (again) flush();
};

export const flush = () => {
  again = true;
  if (!timer && !busy) timer = setTimeout(run, Math.max(0, notBefore - Date.now())) as unknown as number;
};

/**
 * The page may never come back, so what is queued leaves as beacons, whose answers nobody sees. Stored events stay where
 * they are while the server is failing or another tab is on them: the next page sends them.
 */
export const leave = () => {
  const unsure = failures > 0 || navigator.onLine === false || isElsewhere();
  for (;;) {
    const batch = take(maxEvents, KEEPALIVE_CHARS, inFlight, unsure);
    if (!batch[0] || !attempt(() => navigator.sendBeacon(...request(batch, { writeKey: key })))) break;
    settle(batch);
  }
};

export const enqueue = (json: string, id: string) => {
  put(json, id);
  if (leaving) leave();
  else flush();
};

export const startTransport = (beforeLeaving: () => void) => {
  const away = () => {
    beforeLeaving();
    leave();
  };
  listen(document, 'visibilitychange', () => document.visibilityState === 'hidden' && away());
  listen(window, 'pagehide', () => {
    leaving = true;
    away();
  });
  const back = () => {
    leaving = false;
    notBefore = askedUntil;
    clearTimeout(timer);
    timer = 0;
    flush();
  };
  listen(window, 'pageshow', (event) => (event as PageTransitionEvent).persisted && back());
  listen(window, 'online', back);
  flush();
};
