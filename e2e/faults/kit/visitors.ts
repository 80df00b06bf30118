/**
 * Visitors whose events show the order of processing from outside. Each one is identified as step 0, tracked, identified as step 1, tracked,
 * and so on. A track that was processed in order carries the identity just before it, however late or often it is delivered. A request
 * is repeated under its messageId until it is answered 200, at the next process if one does not answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Received, Receiver } from '../../harness/receiver.ts';

export interface VisitorsPlan {
  /** Ingest processes. */
  urls: string[];
  key: string;
  prefix: string;
  visitors: number;
  /** Pause of a visitor after each step. */
  pauseMs: number;
}
export interface Visitors {
  /** Accepted tracks: event id → the user id that it must arrive with. */
  accepted: Map<string, string>;
  statuses: Map<number | 'no answer', number>;
  /** When the latest request answered 200 was sent and answered, by `performance.now()`. */
  lastOk: { sentAt: number; answeredAt: number };
  stop(): Promise<void>;
}
const ANSWER_WITHIN_MS = 5_000;
const REPEAT_MS = 50;

export function startVisitors({ urls, key, prefix, visitors, pauseMs }: VisitorsPlan): Visitors {
  const accepted = new Map<string, string>();
  const statuses = new Map<number | 'no answer', number>();
  const lastOk = { sentAt: 0, answeredAt: 0 };
  let running = true;

  async function post(url: string, path: string, body: object): Promise<number | 'no answer'> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = { ...body, properties: { sent_at: Date.now() } };
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(sent), signal });
      await reply.arrayBuffer();
      return reply.status;
    } catch {
      return 'no answer';
    }
  }
  /** False if the run ended before it was accepted. */
  async function must(at: { url: number }, path: string, body: object): Promise<boolean> {
    while (running) {
      const sentAt = performance.now();
      const status = await post(urls[at.url % urls.length]!, path, body);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) {
        lastOk.sentAt = Math.max(lastOk.sentAt, sentAt);
        lastOk.answeredAt = performance.now();
        return true;
      }
      at.url++;
      await sleep(REPEAT_MS);
    }
    return false;
  }
  const lanes = Array.from({ length: visitors }, async (_, visitor) => {
    const at = { url: visitor };
    const anonymousId = `${prefix}-${visitor}`;
    for (let step = 0; running; step++) {
      const userId = `${anonymousId}-user-${step}`;
      if (!(await must(at, '/v1/i', { type: 'identify', userId, anonymousId, messageId: `${anonymousId}-i${step}` }))) return;
      const messageId = `${anonymousId}-t${step}`;
      if (!(await must(at, '/v1/t', { type: 'track', event: 'Step', anonymousId, messageId }))) return;
      accepted.set(messageId, userId);
      await sleep(pauseMs);
    }
  });
  return {
    accepted,
    statuses,
    lastOk,
    async stop() {
      running = false;
      await Promise.all(lanes);
    },
  };
}

export interface Arrivals {
  lost: number;
  repeated: number;
  outOfOrder: number;
  /** The longest time between the accepted request and its arrival. */
  slowestMs: number;
}
/** Waits for the accepted events, then compares them with what the receiver has. */
export async function arrivalsOf(receiver: Receiver, { accepted }: Visitors, withinMs: number): Promise<Arrivals> {
  const reader = new Reader(receiver);
  const end = performance.now() + withinMs;
  while (performance.now() < end && ![...accepted.keys()].every((id) => reader.read().has(id))) await sleep(200);
  // A repeat comes soon after the first, or never.
  await sleep(2_000);
  const seen = reader.read();
  let [lost, repeated, outOfOrder, slowestMs] = [0, 0, 0, 0];
  for (const [id, userId] of accepted) {
    const arrived = seen.get(id);
    if (arrived === undefined) {
      lost++;
      continue;
    }
    repeated += arrived.times - 1;
    if (arrived.userId !== userId) outOfOrder++;
    slowestMs = Math.max(slowestMs, arrived.delayMs);
  }
  return { lost, repeated, outOfOrder, slowestMs };
}

/** Parses each request once. */
class Reader {
  readonly #requests: Received[];
  readonly #seen = new Map<string, { userId: unknown; times: number; delayMs: number }>();
  #next = 0;
  constructor({ requests }: Receiver) {
    this.#requests = requests;
  }
  read() {
    for (; this.#next < this.#requests.length; this.#next++) {
      const { body, at } = this.#requests[this.#next]!;
      const event = JSON.parse(body) as { event_id: string; user_id?: string; properties?: { sent_at?: number } };
      const known = this.#seen.get(event.event_id);
      if (known) known.times++;
      else this.#seen.set(event.event_id, { userId: event.user_id, times: 1, delayMs: at - (event.properties?.sent_at ?? at) });
    }
    return this.#seen;
  }
}
