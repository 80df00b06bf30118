/** A record waits about this long for others to share its message, and for messages of other topics to share its round. */
const LINGER_MS = 1;
/** So few messages start without waiting for the last round: a lone event waits 2 ms at most. */
const FEW = 2;
/** Messages that are not confirmed by then no longer hold up the next round, also of other topics: docs/decisions/0028. */
const LONGEST_MS = 20;

/**
 * Publishes the messages of one stream in rounds. Brokers replicate messages that arrive together as one entry; sent one by one, each would
 * cost its own exchange between all brokers. A round starts about a millisecond after the first message asks for it. With more than a few
 * messages it starts when the rounds before are confirmed.
 */
export class Rounds {
  readonly #paceMs: number;
  #startedAt = Number.NEGATIVE_INFINITY;
  #hurries = false;
  #waiting: (() => void)[] = [];
  /** Messages that were started and are not confirmed. */
  #unconfirmed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `paceMs`: a round starts no sooner than this after the last one, unless it hurries. For messages that nobody waits for. */
  constructor(paceMs = 0) {
    this.#paceMs = paceMs;
  }

  /** Resolves when the next round starts. Call `confirmed` when the message is stored or refused. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#timer ??= setTimeout(() => this.#startIfFew(), Math.max(LINGER_MS, this.#paceLeft));
    });
  }
  confirmed(): void {
    if (--this.#unconfirmed === 0 && this.#waiting.length > 0 && this.#paceLeft <= 0) this.#start();
  }
  /** A message is large enough: its round starts when the messages before it are confirmed. */
  hurry(): void {
    if (this.#paceLeft <= 0) return;
    this.#hurries = true;
    if (this.#unconfirmed === 0 && this.#waiting.length > 0) this.#start();
  }
  get #paceLeft(): number {
    return this.#hurries ? 0 : this.#startedAt + this.#paceMs - performance.now();
  }

  #startIfFew(): void {
    if (this.#unconfirmed === 0 || this.#waiting.length <= FEW) this.#start();
    else this.#timer = setTimeout(() => this.#start(), LONGEST_MS - LINGER_MS);
  }
  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#startedAt = performance.now();
    this.#hurries = false;
    const starting = this.#waiting;
    this.#waiting = [];
    this.#unconfirmed += starting.length;
    for (const start of starting) start();
  }
}
