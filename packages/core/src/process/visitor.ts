/** What the service remembers about a visitor: one record per organisation and anonymous id. Immutable: a change makes a new object. */
export interface VisitorState {
  user_id?: string;
  /** The traits named in the data layer's `identity.remember_traits`. */
  traits?: Record<string, unknown>;
  /** `number` and `events` are absent in records of earlier versions. */
  session?: { id: string; started_at: number; last_at: number; number?: number; events?: number };
  /** Click ids by parameter, and browser ids by name in `context.vendor_ids`: the value, and when it was seen (milliseconds). */
  clicks?: Remembered;
  browser_ids?: Remembered;
  campaign_first?: Record<string, string>;
  group_id?: string;
  /** Digest of the traits of the last event that had any. */
  traits_digest?: string;
}
export type Remembered = Readonly<Record<string, readonly [value: string, seen_at: number]>>;

const DAY_MS = 86_400_000;
/** The longest session timeout is a day. */
export const SESSION_KEPT_MS = 2 * DAY_MS;
/** How long click ids, the first campaign and the group of an unknown visitor are kept after the last event. */
export const MEMORY_KEPT_MS = 90 * DAY_MS;
/** As long as a browser keeps the anonymous id. A visitor who returns later has a new one. */
export const LINK_KEPT_MS = 400 * DAY_MS;

/** Whether the visitor has been away for so long that the record is useless. */
export function hasOutlived(state: VisitorState, now: number): boolean {
  const { user_id, session, clicks, browser_ids, campaign_first, group_id } = state;
  if (session === undefined) return false;
  const remembered = clicks ?? browser_ids ?? campaign_first ?? group_id;
  const kept = user_id !== undefined ? LINK_KEPT_MS : remembered !== undefined ? MEMORY_KEPT_MS : SESSION_KEPT_MS;
  return now - session.last_at > kept;
}

/** A continued session is stored at most this often. After a crash its last event may seem this much older. */
const GRAIN_MS = 10_000;
const WHOLE = ['user_id', 'traits', 'clicks', 'browser_ids', 'campaign_first', 'group_id', 'traits_digest'] as const;

/** Whether `next` must be stored; `saved` is what the store has. A session that only continues is not stored with every event. */
export function worthSaving(saved: VisitorState, next: VisitorState): boolean {
  if (saved === next) return false;
  if (WHOLE.some((key) => saved[key] !== next[key]) || saved.session?.id !== next.session?.id) return true;
  return (next.session?.last_at ?? 0) - (saved.session?.last_at ?? 0) >= GRAIN_MS;
}
