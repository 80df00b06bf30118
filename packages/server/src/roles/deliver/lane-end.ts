import type { Delivery, StoredRecord } from '../../stores/event-log/port.ts';

/**
 * The group of an ended lane stays until the log is this far behind the lane's end. After a change of the leader, a broker whose clock is
 * behind stamps records that belong to the ended lane.
 */
const GRACE_MS = 60_000;

/**
 * Finds out whether a lane has read all of its records. Only append times in the topic itself decide: the clock of this process may be ahead
 * of the broker's. In a topic without new records the lane stays, and the next record ends it.
 *
 * Two records behind the end are handed out as marks: the first one, and the first one behind the grace. Whatever came before a mark was
 * handed out before it.
 */
export class LaneEnd {
  #first: string | undefined;
  #last: string | undefined;
  readonly #unsettled = new Map<string, Delivery>();
  /** A record behind the end was handed out. */
  reached = false;
  /** A record behind the grace was handed out. */
  over = false;

  /** Whether a record behind the end is to be handed out. True again for a mark that is redelivered. */
  isMark({ position, time }: StoredRecord, to: number): boolean {
    if (isOver(time, to)) return (this.#last ??= position) === position;
    return (this.#first ??= position) === position;
  }
  /** Call with each mark that was handed out. */
  reach(mark: Delivery, to: number): void {
    this.reached = true;
    this.over ||= isOver(mark.record.time, to);
    this.#unsettled.set(mark.record.position, mark);
  }
  /** Call when it is stored that the lane has passed. Until then a mark stays, so that the next process gets it too. */
  async settle(): Promise<void> {
    for (const [position, mark] of this.#unsettled) {
      await mark.ack();
      this.#unsettled.delete(position);
    }
  }
}

export function isOver(time: number, to: number): boolean {
  return time >= to + GRACE_MS;
}
