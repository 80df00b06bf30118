import type { VisitorState } from '@firsthand/core/process/visitor.ts';

export type { VisitorState };
export interface VisitorStore {
  load(orgId: string, anonymousIds: string[]): Promise<(VisitorState | undefined)[]>;
  /** Resolves when durable. */
  save(orgId: string, entries: [anonymousId: string, state: VisitorState][]): Promise<void>;
  /** Forgets a visitor, or every visitor linked to a user. Returns how many links and sessions went, and the anonymous ids. */
  erase(
    orgId: string,
    who: { anonymous_id: string } | { user_id: string },
  ): Promise<{ links: number; sessions: number; anonymous_ids: string[] }>;
  /** Removes some of what has outlived its use, in small steps: to be asked every minute. Resolves with how many went. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}
