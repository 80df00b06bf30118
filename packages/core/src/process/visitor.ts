/** State kept per visitor: one record per organisation and anonymous id. Immutable: a change creates a new object. */
export interface VisitorState {
  user_id?: string;
  /** Traits listed in the data layer's `identity.remember_traits`. */
  traits?: Record<string, unknown>;
  /** Records of earlier versions have no `number` and `events`. */
  session?: { id: string; started_at: number; last_at: number; number?: number; events?: number };
  /** Click ids by parameter, and browser ids by their name in `context.vendor_ids`: the value, and when it was seen (milliseconds). */
  clicks?: Remembered;
  browser_ids?: Remembered;
  campaign_first?: Record<string, string>;
  group_id?: string;
  /** Digest of the traits of the last event that had traits. */
  traits_digest?: string;
}
export type Remembered = Readonly<Record<string, readonly [value: string, seen_at: number]>>;

const DAY_MS = 86_400_000;
/** Longer than the longest session timeout, which is a day. */
export const SESSION_KEPT_MS = 2 * DAY_MS;
/** How long click ids, the first campaign and the group of an unidentified visitor are kept after the last event. */
const MEMORY_KEPT_MS = 90 * DAY_MS;
/** As long as a browser keeps the anonymous id. A visitor who returns later gets a new one. */
export const LINK_KEPT_MS = 400 * DAY_MS;

/** Whether the visitor has been away so long that the record is useless. */
export function hasOutlived(state: VisitorState, now: number): boolean {
  const { user_id, session, clicks, browser_ids, campaign_first, group_id } = state;
  if (session === undefined) return false;
  const remembered = clicks ?? browser_ids ?? campaign_first ?? group_id;
  const kept = user_id !== undefined ? LINK_KEPT_MS : remembered !== undefined ? MEMORY_KEPT_MS : SESSION_KEPT_MS;
  return now - session.last_at > kept;
}

/**
 * A continuing session is stored at most once in a minute, and in a thirtieth of its timeout. After a crash its last event may appear older
 * by up to this much. On a cluster each time is a message that all brokers flush.
 */
const LONGEST_GRAIN_MS = 60_000;
const GRAINS = 30;
const WHOLE = ['user_id', 'traits', 'clicks', 'browser_ids', 'campaign_first', 'group_id', 'traits_digest'] as const;

/** Whether `next` must be stored; `saved` is the stored state. A session that merely continues is not stored on every event. */
export function worthSaving(saved: VisitorState, next: VisitorState, sessionTimeoutMs: number): boolean {
  if (saved === next) return false;
  if (WHOLE.some((key) => saved[key] !== next[key]) || saved.session?.id !== next.session?.id) return true;
  return (next.session?.last_at ?? 0) - (saved.session?.last_at ?? 0) >= Math.min(LONGEST_GRAIN_MS, sessionTimeoutMs / GRAINS);
}
