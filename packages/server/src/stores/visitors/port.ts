import type { VisitorState } from '@firsthand/core/process/visitor.ts';

export type { VisitorState };
export interface VisitorStore {
  load(orgId: string, anonymousIds: string[]): Promise<(VisitorState | undefined)[]>;
  /** Resolves when durable. */
  save(orgId: string, entries: [anonymousId: string, state: VisitorState][]): Promise<void>;
  /**
   * Saves only where the store still has `before` (`{}`: nothing), and resolves with whether it did. For what is written beside the events of a
   * visitor: one of these, or the next owner, may store a newer state meanwhile.
   */
  replace(orgId: string, entries: [anonymousId: string, before: VisitorState, state: VisitorState][]): Promise<boolean[]>;
  /** Erases a visitor, or every visitor linked to a user. Returns the number of removed links and sessions, and the anonymous ids. */
  erase(
    orgId: string,
    who: { anonymous_id: string } | { user_id: string },
  ): Promise<{ links: number; sessions: number; anonymous_ids: string[] }>;
  /** Removes some expired entries, in small steps. Call it every minute. Resolves with the number removed. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}
