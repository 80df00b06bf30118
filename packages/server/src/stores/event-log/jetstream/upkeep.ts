import type { JetStreamApi } from './api.ts';
import { orNone } from './api.ts';
import { firstOpen } from './cursor.ts';
import type { CursorStore } from './cursor-store.ts';
import type { DirectGet } from './direct-get.ts';
import type { Journal } from './journal.ts';
import { ID_STREAM, idSubject, type Place, RETRY_STREAM, retrySubject } from './names.ts';
import type { Patches } from './patches.ts';
import { type Position, parsePosition } from './position.ts';
import type { Reader } from './reader.ts';
import { storedRetries } from './retry-queue.ts';

export interface UpkeepDeps {
  api: JetStreamApi;
  cursors: CursorStore;
  direct: DirectGet;
  journal: Journal;
  patches: Patches;
  reader: Reader;
}

const CHUNK = 200;
/** Beyond this many messages, their records are estimated. */
const MOST_COUNTED = 2_000;

/** Expiry, erasure, removal and lag of topics, computed from the broker's streams. */
export class Upkeep {
  readonly #deps: UpkeepDeps;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
  }

  async expire(place: Place, before: Date, ignoring: readonly string[]): Promise<number> {
    const { api, patches, reader } = this.#deps;
    const time = before.getTime();
    const patched = await patches.list(place.topic);
    const first = await reader.first(place);
    if (patched.length === 0 && (!first || first.time >= time)) return 0;
    const end = await this.#firstOpen(place.topic, ignoring);
    let removed = 0;
    for (const seq of patched) {
      const expired = seq < end.seq ? await patches.rewrite(place, seq, () => true, time) : 0;
      // The others are younger.
      if (expired === 0) break;
      removed += expired;
    }
    const seq = Math.min(end.seq, await this.#firstInTime(place, time));
    if (first && first.seq < seq) {
      removed += await this.#count(place, 1, seq);
      await api.call(`STREAM.PURGE.${place.stream}`, { filter: place.subject, seq });
    }
    // A group is in the middle of this message.
    if (end.index > 0) removed += await patches.rewrite(place, end.seq, (index) => index < end.index, time);
    return removed;
  }

  /** The messages of the topic before this sequence are older than `time`. */
  async #firstInTime(place: Place, time: number): Promise<number> {
    const last = await this.#deps.reader.last(place);
    if (!last) return 0;
    if (last.time < time) return last.seq + 1;
    // A replica that lags may not know it yet. Then the next sweep removes them.
    return (await this.#deps.reader.firstAt(place, time))?.seq ?? 0;
  }

  async erase(place: Place, positions: readonly string[]): Promise<string[]> {
    const end = await this.#firstOpen(place.topic, []);
    // Behind the cursors: a retry is stored before its record counts as settled.
    const waiting = await this.#waitingRetries(place.topic);
    const left: string[] = [];
    const erased = new Map<number, Set<number>>();
    for (const position of positions) {
      const at = parsePosition(position);
      if (!at) continue;
      if (isBefore(at, end) && !waiting.has(position)) erased.set(at.seq, (erased.get(at.seq) ?? new Set()).add(at.index));
      else left.push(position);
    }
    for (const [seq, indexes] of erased) await this.#deps.patches.rewrite(place, seq, (index) => indexes.has(index));
    return left;
  }

  /** The positions of all records that a group tries again later. Their copies hold the whole record. */
  async #waitingRetries(topic: string): Promise<Set<string>> {
    const waiting = new Set<string>();
    for (const group of await this.#deps.cursors.groups(topic))
      for (const position of (await storedRetries(this.#deps.direct, topic, group)).positions) waiting.add(position);
    return waiting;
  }

  /** Every group has settled the records before this one. */
  async #firstOpen(topic: string, ignoring: readonly string[]): Promise<Position> {
    const { cursors } = this.#deps;
    let end: Position = { seq: Number.POSITIVE_INFINITY, index: 0 };
    for (const group of await cursors.groups(topic)) {
      if (ignoring.includes(group)) continue;
      const stored = await cursors.read(topic, group);
      if (!stored) continue;
      const open = firstOpen(stored.state);
      if (isBefore(open, end)) end = open;
    }
    return end;
  }

  async removeGroup(topic: string, group: string): Promise<void> {
    await this.#deps.cursors.remove(topic, group);
    await this.#deps.journal.remove(topic, group);
    await orNone(this.#deps.api.call(`STREAM.PURGE.${RETRY_STREAM}`, { filter: retrySubject(topic, group) }));
  }
  async removeTopic(place: Place): Promise<void> {
    const { api, cursors, patches } = this.#deps;
    for (const group of await cursors.groups(place.topic)) await this.removeGroup(place.topic, group);
    await orNone(api.call(`STREAM.PURGE.${place.stream}`, { filter: place.subject }));
    await orNone(api.call(`STREAM.PURGE.${ID_STREAM}`, { filter: idSubject(place.topic) }));
    await patches.purge(place.topic);
  }

  async lag(place: Place, group: string): Promise<{ waiting: number; oldest: number | undefined }> {
    const { cursors, direct, patches } = this.#deps;
    const stored = await cursors.read(place.topic, group);
    if (!stored) return { waiting: 0, oldest: undefined };
    const retries = await storedRetries(direct, place.topic, group);
    let [waiting, oldest] = [retries.count, retries.oldest];
    const { high, open, since = 0 } = stored.state;
    for (const [i, [seq, ...indexes]] of open.entries()) {
      // Their number is known without them; the first one has the age.
      if (indexes.length > 0 && i > 0) {
        waiting += indexes.length;
        continue;
      }
      const message = (await direct.get(place.stream, seq)) ?? (await patches.get(place.topic, place.subject, seq));
      if (!message) continue;
      waiting += indexes.length || message.count;
      oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, message.time);
    }
    let [messages, counted] = [0, 0];
    for (let seq = high + 1; ; ) {
      const page = await direct.batch(place.stream, { seq, next_by_subj: place.subject, batch: CHUNK });
      for (const message of page.messages) {
        seq = message.seq + 1;
        messages++;
        if (message.time < since) continue;
        counted += message.count;
        oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, message.time);
      }
      if (page.messages.length === 0 || page.pending === 0) {
        // A replica that lags has not seen all of them: the leader decides.
        const more = await direct.leaderGet(place.stream, { seq, next_by_subj: place.subject });
        if (more === undefined) break;
        continue;
      }
      if (messages < MOST_COUNTED) continue;
      counted += Math.round((counted / messages) * page.pending);
      break;
    }
    return { waiting: waiting + counted, oldest };
  }

  /** The number of records in the messages from `from` to before `to`. */
  async #count(place: Place, from: number, to: number): Promise<number> {
    let [messages, counted] = [0, 0];
    for (let seq = from; ; ) {
      const page = await this.#deps.direct.batch(place.stream, { seq, next_by_subj: place.subject, batch: CHUNK });
      for (const message of page.messages) {
        if (message.seq >= to) return counted;
        seq = message.seq + 1;
        messages++;
        counted += message.count;
      }
      if (page.messages.length === 0 || page.pending === 0) return counted;
      if (messages >= MOST_COUNTED) return counted;
    }
  }
}

function isBefore(a: Position, b: Position): boolean {
  return a.seq < b.seq || (a.seq === b.seq && a.index < b.index);
}
