import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumeOptions } from '../port.ts';
import { OpenMessage } from './cursor.ts';
import { JetStreamDelivery, type Settler } from './delivery.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Message } from './message.ts';
import type { OwnedGroup } from './takeover.ts';

export interface IntakeDeps {
  dispatcher: Dispatcher;
  settler: Settler;
  options: Pick<ConsumeOptions, 'includes' | 'handsOutDuplicates'>;
  /** Retries while the broker is unavailable and the consumer is not stopped. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  onError(error: unknown): void;
}

const AGAIN_MS = 250;
const MOST_DUE = 64;
const LONGEST_WAIT_MS = 60_000;
/** The stored cursor of a group that has nothing to settle itself may be this much behind. */
const ADVANCE_MS = 1_000;

/** Reads records and due retries of a group while the dispatcher has room. Records that are not to be handed out are settled here. */
export class Intake {
  readonly #group: OwnedGroup;
  readonly #deps: IntakeDeps;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  #due: NodeJS.Timeout | undefined;
  #advance: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(group: OwnedGroup, deps: IntakeDeps) {
    this.#group = group;
    this.#deps = deps;
  }

  /** Reads no more. Resolves when the last read has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#due);
    clearTimeout(this.#advance);
    await this.#filling;
  }

  /** Reads on while there is room. */
  fill(): void {
    if (this.#filling) {
      this.#fillAgain = true;
      return;
    }
    if (!this.#isWanted) return;
    this.#fillAgain = false;
    this.#filling = this.#read()
      .catch(async (error: unknown) => {
        if (this.#stopped) return;
        this.#deps.onError(error);
        this.#fillAgain = true;
        await sleep(AGAIN_MS);
      })
      .finally(() => {
        this.#filling = undefined;
        if (this.#fillAgain) this.fill();
      });
  }
  get #isWanted(): boolean {
    return !this.#stopped && this.#deps.dispatcher.hasRoom;
  }

  async #read(): Promise<void> {
    const { persist } = this.#deps;
    const { reader, settlements } = this.#group;
    await persist(() => this.#takeDueRetries());
    while (this.#isWanted) {
      const [again] = settlements.reopened;
      if (again) {
        const [seq, ...indexes] = again;
        const message = await persist(() => reader.again(seq));
        // Not taken, so the cursor must still name it.
        if (this.#stopped) return;
        settlements.reopened.shift();
        if (message) this.#take(message, indexes);
        continue;
      }
      const messages = await persist(() => reader.next());
      if (this.#stopped) return;
      if (messages.length === 0) {
        settlements.open.passed(reader.at);
        return;
      }
      for (const message of messages) this.#take(message);
    }
  }

  /** `only`: the places in the batch that are not settled yet; all of them if empty. */
  #take(message: Message, only: readonly number[] = []): void {
    const { reader, settlements, settledBefore, since } = this.#group;
    const { dispatcher, settler } = this.#deps;
    const { includes, handsOutDuplicates = false } = this.#deps.options;
    const { records } = message;
    const open = new OpenMessage(message.seq, message.time, records.length);
    const deliveries: JetStreamDelivery[] = [];
    for (const index of records.keys()) {
      const record = message.record(index);
      const wanted = only.length === 0 || only.includes(index);
      const isDuplicate = reader.isDuplicate(message, index);
      if (!record || !wanted || message.time < since || (isDuplicate && !handsOutDuplicates)) {
        open.settle(index);
        continue;
      }
      if (settledBefore.size > 0 && settledBefore.has(record.position)) {
        open.settle(index);
        // The journal forgets them soon.
        settlements.advance();
        continue;
      }
      if (includes?.(record) === false) {
        open.settle(index);
        this.#advance ??= setTimeout(() => this.#storeAdvance(), ADVANCE_MS).unref();
        continue;
      }
      deliveries.push(new JetStreamDelivery(settler, { kind: 'topic', seq: message.seq, index }, record, 1, undefined, isDuplicate));
    }
    settlements.open.add(open);
    dispatcher.add(deliveries);
  }

  /** Others see in the stored cursor how far the group is. */
  #storeAdvance(): void {
    this.#advance = undefined;
    this.#group.settlements.advance();
  }

  async #takeDueRetries(): Promise<void> {
    const { dispatcher, settler } = this.#deps;
    const due = await this.#group.retries.takeDue(MOST_DUE);
    if (this.#stopped) return;
    dispatcher.add(
      due.map(({ seq, record, attempt, state }) => new JetStreamDelivery(settler, { kind: 'retry', seq }, record, attempt, state)),
    );
    this.waitForRetries();
  }
  /** Call after a retry was added. */
  waitForRetries(): void {
    clearTimeout(this.#due);
    const wait = this.#stopped ? undefined : this.#group.retries.nextIn();
    if (wait !== undefined) this.#due = setTimeout(() => this.fill(), Math.min(wait, LONGEST_WAIT_MS)).unref();
  }
}
