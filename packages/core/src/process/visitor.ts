/** What is remembered of a visitor: one record per organisation and anonymous id. Never written to: a change is a new object. */
export interface VisitorState {
  user_id?: string;
  /** The traits that the data layer says to remember. */
  traits?: Record<string, unknown>;
  session?: { id: string; started_at: number; last_at: number };
}

/** Going on with a session is stored no more often than this: after a crash its last event may seem so much older. */
const GRAIN_MS = 10_000;

/** Whether `next` must be stored, `saved` being what is. A session's last moment alone need not be, every time. */
export function worthSaving(saved: VisitorState, next: VisitorState): boolean {
  if (saved === next) return false;
  if (saved.user_id !== next.user_id || saved.traits !== next.traits || saved.session?.id !== next.session?.id) return true;
  return (next.session?.last_at ?? 0) - (saved.session?.last_at ?? 0) >= GRAIN_MS;
}
