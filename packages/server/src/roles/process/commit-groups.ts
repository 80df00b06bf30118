/** Commits finished events in groups, one after the other, while others are processed. */
import { atStep } from '../../runtime/stall-watch.ts';
import { turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';

/** Records of a group are built in one step: more would hold the event loop for milliseconds. An embedded log commits all groups together. */
const MAX_COMMIT = 64;
/** Elsewhere each group costs messages that all brokers flush. A request of 100 events is one. */
const MAX_COMMIT_BY_MESSAGES = 128;
const MAX_COMMIT_BYTES = 512 * 1024;

export interface CommitGroupsDeps<Finished> {
  /** Whether the log has transactions. */
  isAtomic: boolean;
  bytesOf(finished: Finished): number;
  /** Settles when the group is durable, or is left to the next owner after `stop`. Does not reject. */
  commit(group: readonly Finished[]): Promise<void>;
}

export class CommitGroups<Finished> {
  readonly #deps: CommitGroupsDeps<Finished>;
  readonly #most: number;
  #finished: Finished[] = [];
  #committing: Promise<void> | undefined;
  #stopped = false;

  constructor(deps: CommitGroupsDeps<Finished>) {
    this.#deps = deps;
    this.#most = deps.isAtomic ? MAX_COMMIT : MAX_COMMIT_BY_MESSAGES;
  }

  /** `moreFollow`: others are being begun, and `commitSoon` is called after the last one. */
  add(finished: Finished, { moreFollow }: { moreFollow: boolean }): void {
    this.#finished.push(finished);
    // A log without transactions pays messages for each commit: events that are being begun share them.
    if (this.#deps.isAtomic || !moreFollow || this.#finished.length >= this.#most) this.commitSoon();
  }
  /** Lets the rest of this group finish first. */
  commitSoon(): void {
    if (this.#finished.length > 0) this.#committing ??= Promise.resolve().then(() => this.#commitAll());
  }
  /** After this resolves nothing is committed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#committing;
    this.#finished = [];
  }

  async #commitAll(): Promise<void> {
    while (this.#finished.length > 0 && !this.#stopped) {
      const { group, bytes } = this.#takeFinished();
      if (bytes > VERY_LARGE_BYTES) {
        await turns.bulk();
        turns.tookLong();
      }
      atStep('commit');
      await this.#deps.commit(group);
    }
    this.#committing = undefined;
  }

  /** Records are written out in one step, so large events are committed in small groups. */
  #takeFinished(): { group: Finished[]; bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const finished of this.#finished) {
      const more = this.#deps.bytesOf(finished);
      if (count === this.#most || (count > 0 && bytes + more > MAX_COMMIT_BYTES)) break;
      bytes += more;
      count += 1;
    }
    return { group: this.#finished.splice(0, count), bytes };
  }
}
