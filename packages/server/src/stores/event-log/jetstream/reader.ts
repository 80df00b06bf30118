import type { ReadRange, StoredRecord } from '../port.ts';
import type { BatchRequest, DirectGet } from './direct-get.ts';
import type { Message } from './message.ts';
import type { Place } from './names.ts';
import type { Patches } from './patches.ts';
import { parsePosition } from './position.ts';

const CHUNK = 100;
const FIRST_WINDOW = 256;

/** Reads a topic without a group: by position or time, in both directions. */
export class Reader {
  readonly #direct: DirectGet;
  readonly #patches: Patches;

  constructor(direct: DirectGet, patches: Patches) {
    this.#direct = direct;
    this.#patches = patches;
  }

  async get(place: Place, position: string): Promise<StoredRecord | undefined> {
    const at = parsePosition(position);
    if (!at || at.seq < 1) return undefined;
    const message = (await this.#direct.get(place.stream, at.seq)) ?? (await this.#patches.get(place.topic, place.subject, at.seq));
    return message?.subject === place.subject ? message.record(at.index) : undefined;
  }

  /** The first message of the topic at or after `time`, if any. */
  async firstAt({ stream, subject }: Place, time: number): Promise<Message | undefined> {
    const { messages } = await this.#direct.batch(stream, { start_time: new Date(time).toISOString(), next_by_subj: subject, batch: 1 });
    return messages[0];
  }
  /** From the leader: it knows what was removed. */
  first({ stream, subject }: Place): Promise<Message | undefined> {
    return this.#direct.leaderGet(stream, { seq: 1, next_by_subj: subject });
  }
  /** From the leader: it knows the newest. */
  last({ stream, subject }: Place): Promise<Message | undefined> {
    return this.#direct.leaderGet(stream, { last_by_subj: subject });
  }

  /** The records of one message at a time. */
  async *read(place: Place, range: ReadRange): AsyncIterable<StoredRecord[]> {
    const from = range.from?.getTime() ?? Number.NEGATIVE_INFINITY;
    const to = range.to?.getTime() ?? Number.POSITIVE_INFINITY;
    const after = range.after === undefined ? undefined : parsePosition(range.after);
    if (range.limit <= 0 || (range.after !== undefined && after === undefined)) return;
    let left = range.limit;
    for await (const message of range.reverse ? this.#backward(place, to, after?.seq) : this.#forward(place, range.from, after?.seq)) {
      if (range.reverse ? message.time < from : message.time >= to) return;
      if (message.time < from || message.time >= to) continue;
      const { reverse = false, after: bound } = range;
      const records = recordsOf(message, reverse)
        .filter(({ position }) => bound === undefined || (reverse ? position < bound : position > bound))
        .slice(0, left);
      if (records.length > 0) yield records;
      if ((left -= records.length) === 0) return;
    }
  }

  async *#forward(place: Place, from: Date | undefined, seq: number | undefined): AsyncIterable<Message> {
    const first = await this.first(place);
    const least = first?.seq ?? Number.POSITIVE_INFINITY;
    const start = seq === undefined && from ? { start_time: from.toISOString() } : { seq: Math.max(seq ?? 1, 1) };
    for await (const message of this.#messages(place, start, Number.POSITIVE_INFINITY))
      if (message.seq >= least || message.isPatch) yield message;
  }

  /** The server reads forward only. So this reads windows from the end to the beginning, and widens them after a sparse window. */
  async *#backward(place: Place, to: number, before: number | undefined): AsyncIterable<Message> {
    const patched = await this.#patches.list(place.topic);
    const [first, last] = [await this.first(place), await this.last(place)];
    const lowest = Math.min(first?.seq ?? Number.POSITIVE_INFINITY, patched[0] ?? Number.POSITIVE_INFINITY);
    let end = Math.min(Math.max(last?.seq ?? 0, patched.at(-1) ?? 0), before ?? Number.POSITIVE_INFINITY);
    if (Number.isFinite(to)) end = Math.min(end, (await this.firstAt(place, to))?.seq ?? end);
    for (let window = FIRST_WINDOW; end >= lowest; ) {
      const start = Math.max(lowest, end - window + 1);
      const found: Message[] = [];
      for await (const message of this.#messages(place, { seq: start }, end, patched)) found.push(message);
      yield* found.reverse();
      end = start - 1;
      if (found.length < FIRST_WINDOW / 4) window *= 4;
    }
  }

  /** In order, with patches in the places of the messages that they replace. `end` is inclusive. */
  async *#messages(
    { stream, subject, topic }: Place,
    start: Pick<BatchRequest, 'seq' | 'start_time'>,
    end: number,
    known?: readonly number[],
  ): AsyncIterable<Message> {
    const patched = (known ?? (await this.#patches.list(topic))).filter((seq) => seq >= (start.seq ?? 1) && seq <= end);
    let next = 0;
    const patchesBefore = async (seq: number) => {
      const found: Message[] = [];
      for (; (patched[next] ?? Number.POSITIVE_INFINITY) < seq; next++) {
        const patch = await this.#patches.get(topic, subject, patched[next] ?? 0);
        if (patch) found.push(patch);
      }
      return found;
    };
    for (let from: Pick<BatchRequest, 'seq' | 'start_time'> = start; ; ) {
      const { messages, pending } = await this.#direct.batch(stream, { ...from, next_by_subj: subject, batch: CHUNK });
      for (const message of messages) {
        yield* await patchesBefore(Math.min(message.seq, end + 1));
        if (message.seq > end) return;
        yield message;
        from = { seq: message.seq + 1 };
      }
      if (messages.length > 0 && pending > 0) continue;
      // A replica that lags has not seen all of them: the leader decides.
      const more = from.seq === undefined ? undefined : await this.#direct.leaderGet(stream, { seq: from.seq, next_by_subj: subject });
      if (more === undefined || more.seq > end) break;
      yield* await patchesBefore(more.seq);
      yield more;
      from = { seq: more.seq + 1 };
    }
    yield* await patchesBefore(Number.POSITIVE_INFINITY);
  }
}

function recordsOf(message: Message, reverse: boolean): StoredRecord[] {
  const records = [...message.records.keys()].flatMap((index) => message.record(index) ?? []);
  return reverse ? records.reverse() : records;
}
