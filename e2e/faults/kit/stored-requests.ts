/** A vendor that stores what it answers with 200, answers late and at random, and tells what was stored twice. */
import type { Answer, Received, Receiver } from '../../harness/receiver.ts';

export interface Stored {
  /** Of each stored request, in the order of arrival. */
  requests: { id: string; events: string[] }[];
  events: Set<string>;
  /** Answers nothing until it is set to false again. What hangs then stays without an answer. */
  hangs: boolean;
}
const SLOWEST_MS = 30;
const FAILS = 0.05;

/** Answers the first attempt at a request with 503 now and then: it is not stored. */
export function storeRequests(receiver: Receiver): Stored {
  const stored: Stored = { requests: [], events: new Set(), hangs: false };
  const failed = new Set<string>();
  receiver.answer((request): Answer => {
    const id = String(request.headers['webhook-id']);
    const fails = !stored.hangs && !failed.has(id) && Math.random() < FAILS;
    if (fails) failed.add(id);
    else {
      const events = eventsOf(request);
      stored.requests.push({ id, events });
      for (const event of events) stored.events.add(event);
    }
    return stored.hangs ? 'hang' : { status: fails ? 503 : 200, delayMs: Math.random() * SLOWEST_MS };
  });
  return stored;
}
function eventsOf({ body }: Received): string[] {
  return ([JSON.parse(body)].flat() as { event_id: string }[]).map(({ event_id }) => event_id);
}

export interface Repeats {
  /** Events that were never stored. */
  lost: number;
  /** Requests that came again under their id: a vendor that keeps ids drops them. */
  sameRequests: number;
  /** Events that came again in a request with another id. */
  inOtherRequests: number;
}
export function repeatsOf({ requests, events }: Stored, accepted: Iterable<string>): Repeats {
  const byEvent = new Map<string, Set<string>>();
  for (const { id, events: members } of requests)
    for (const event of members) byEvent.set(event, (byEvent.get(event) ?? new Set()).add(id));
  return {
    lost: [...accepted].filter((event) => !events.has(event)).length,
    sameRequests: requests.length - new Set(requests.map(({ id }) => id)).size,
    inOtherRequests: byEvent.values().reduce((sum, ids) => sum + ids.size - 1, 0),
  };
}
