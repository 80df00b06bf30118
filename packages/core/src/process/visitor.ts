/** What is remembered of a visitor: one record per organisation and anonymous id. Never written to: a change is a new object. */
export interface VisitorState {
  user_id?: string;
  /** The traits that the data layer says to remember. */
  traits?: Record<string, unknown>;
  session?: { id: string; started_at: number; last_at: number };
}

const DAY_MS = 86_400_000;
/** The longest session timeout is a day: after that an open session says nothing any more. */
export const SESSION_KEPT_MS = 2 * DAY_MS;
/** As long as a browser keeps the anonymous id: who comes back later is somebody new there, too. */
export const LINK_KEPT_MS = 400 * DAY_MS;

/** Whether a visitor has been away for so long that nothing of this is of use. */
export function hasOutlived(state: VisitorState, now: number): boolean {
  const { user_id, session } = state;
  return session !== undefined && now - session.last_at > (user_id === undefined ? SESSION_KEPT_MS : LINK_KEPT_MS);
}

/** Going on with a session is stored no more often than this: after a crash its last event may seem so much older. */
const GRAIN_MS = 10_000;

/** Whether `next` must be stored, `saved` being what is. A session's last moment alone need not be, every time. */
export function worthSaving(saved: VisitorState, next: VisitorState): boolean {
  if (saved === next) return false;
  if (saved.user_id !== next.user_id || saved.traits !== next.traits || saved.session?.id !== next.session?.id) return true;
  return (next.session?.last_at ?? 0) - (saved.session?.last_at ?? 0) >= GRAIN_MS;
}
