type ApiTokenIds = readonly string[];

/** Revoked everywhere within a second: this wait, and one query. */
const EVERY_MS = 500;

/** Ends connections whose API token was revoked. One query for all of them, and none while there is no such connection. */
export class Revocations {
  readonly #live: (ids: ApiTokenIds) => Promise<ReadonlySet<string>>;
  readonly #held = new Map<() => void, string>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  /** `live` returns those of the given API tokens that are still valid. */
  constructor(live: (ids: ApiTokenIds) => Promise<ReadonlySet<string>>) {
    this.#live = live;
  }
  /** Calls `end` once the token is no longer valid. Returns the function that stops watching. */
  watch(tokenId: string, end: () => void): () => void {
    this.#held.set(end, tokenId);
    this.#timer ??= setInterval(() => void this.#check(), EVERY_MS).unref();
    return () => {
      this.#held.delete(end);
      if (this.#held.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const asked = new Map(this.#held);
      const live = await this.#live([...new Set(asked.values())]);
      for (const [end, tokenId] of asked) if (!live.has(tokenId)) end();
    } catch {
      // Without the database nobody can be checked; the token's expiry still bounds the connection.
    } finally {
      this.#isChecking = false;
    }
  }
}
