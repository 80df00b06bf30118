/**
 * Step 5: a session ends after a period of inactivity. Times are when ingest accepted the event, so a wrong client clock has no effect.
 * The session id is derived from the first event, so processing that event again after a crash gives the same id.
 */

import type { CanonicalEvent } from '../event/canonical.ts';
import { sha256Hex } from '../hash/hash.ts';
import { isoTime } from '../iso-time.ts';
import type { Decision } from '../outcome/outcome.ts';
import type { VisitorState } from './visitor.ts';

export interface SessionInput {
  /** The anonymous id as received. */
  visitor_id: string;
  org_id: string;
  received_at: number;
}

const CHANGED = ['context.session'];
const STARTED: Decision = { step: 'session', result: 'started', changed: CHANGED };
const CONTINUED: Decision = { step: 'session', result: 'continued', changed: CHANGED };

export function applySession(
  event: CanonicalEvent,
  input: SessionInput,
  timeoutMs: number,
  state: VisitorState,
  decisions: Decision[],
): VisitorState {
  const { received_at } = input;
  const open = state.session;
  if (open === undefined || received_at - open.last_at > timeoutMs) {
    const session = {
      id: sessionId(event, input),
      started_at: received_at,
      last_at: received_at,
      number: (open?.number ?? (open ? 1 : 0)) + 1,
      events: 1,
    };
    writeSession(event, session, true);
    decisions.push(STARTED);
    return { ...state, session };
  }
  const { number = 1, events = 1 } = open;
  const is_new = received_at === open.started_at && open.id === sessionId(event, input);
  decisions.push(is_new ? STARTED : CONTINUED);
  // Either the first event again after a crash, or a replayed event older than the last one: the session stays unchanged.
  if (is_new || received_at < open.last_at) {
    writeSession(event, { ...open, number, events: is_new ? 1 : events }, is_new);
    return state;
  }
  const session = { id: open.id, started_at: open.started_at, last_at: received_at, number, events: events + 1 };
  writeSession(event, session, false);
  return { ...state, session };
}

function writeSession(
  event: CanonicalEvent,
  { id, started_at, number, events }: Required<NonNullable<VisitorState['session']>>,
  is_new: boolean,
): void {
  event.context.session = { id, started_at: isoTime(started_at), number, event_index: events, is_new };
}

function sessionId(event: CanonicalEvent, { org_id, visitor_id }: SessionInput): string {
  const hex = sha256Hex(`${org_id}\n${visitor_id}\n${event.event_id}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
