/**
 * Step 5: a session ends after a pause. Time is when ingest accepted the event, so that a client's wrong clock opens and
 * closes nothing, and the id comes from the event that opened it, so that processing it again after a crash gives the same.
 */
import type { CanonicalEvent } from '../event/canonical.ts';
import type { Decision } from '../outcome/outcome.ts';
import { sha256Hex } from '../privacy/digest.ts';
import type { VisitorState } from './visitor.ts';

export interface SessionInput {
  /** The visitor's key: the anonymous id as it came in. */
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
  if (open !== undefined && received_at - open.last_at <= timeoutMs) {
    const is_new = received_at === open.started_at && open.id === sessionId(event, input);
    event.context.session = { id: open.id, is_new };
    decisions.push(is_new ? STARTED : CONTINUED);
    // A replay is older than what is known: it prolongs nothing.
    if (received_at <= open.last_at) return state;
    return { ...state, session: { id: open.id, started_at: open.started_at, last_at: received_at } };
  }
  const id = sessionId(event, input);
  event.context.session = { id, is_new: true };
  decisions.push(STARTED);
  return { ...state, session: { id, started_at: received_at, last_at: received_at } };
}

function sessionId(event: CanonicalEvent, { org_id, visitor_id }: SessionInput): string {
  const hex = sha256Hex(`${org_id}\n${visitor_id}\n${event.event_id}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
