import { randomBytes } from 'node:crypto';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { type JetStreamApi, orNone } from './api.ts';
import { type CursorState, decodeCursor, encodeCursor } from './cursor.ts';
import { groupOf, type Layout } from './names.ts';
import { NoStream, type PubAck, type Publisher, WrongLastSequence } from './publisher.ts';
import type { Streams } from './streams.ts';

/** Another consumer has taken the group over. */
export class Fenced extends Error {}

export interface CursorStoreDeps {
  api: JetStreamApi;
  layout: Layout;
  streams: Streams;
  publisher: Publisher;
}

/** Stores the cursors of groups: the last message of a subject. Reads go to the stream's leader, so that they see every write. */
export class CursorStore {
  readonly #deps: CursorStoreDeps;

  constructor(deps: CursorStoreDeps) {
    this.#deps = deps;
  }

  async read(topic: string, group: string): Promise<{ state: CursorState; revision: number } | undefined> {
    const { stream, subject } = this.#deps.layout.cursorOf(topic, group);
    const found = await orNone(
      this.#deps.api.call<{ message: { seq: number; data?: string } }>(`STREAM.MSG.GET.${stream}`, { last_by_subj: subject }),
    );
    if (!found?.message.data) return undefined;
    return { state: decodeCursor(Buffer.from(found.message.data, 'base64')), revision: found.message.seq };
  }

  /**
   * Takes the group over from any other consumer. `start` makes the state of a new group. `check` throws if it must not be taken any more.
   * `isLeft`: the last consumer has left no result of a record that is not settled.
   */
  async claim(
    topic: string,
    group: string,
    start: () => Promise<Omit<CursorState, 'owner'>>,
    check: () => void,
  ): Promise<{ cursor: Cursor; state: CursorState; isNew: boolean; isLeft: boolean }> {
    const place = this.#deps.layout.cursorOf(topic, group);
    await this.#deps.streams.ensureCursors(place);
    const owner = randomBytes(9).toString('base64url');
    for (;;) {
      const known = await this.read(topic, group);
      const { retries, left, ...rest }: Omit<CursorState, 'owner'> = known?.state ?? (await start());
      // Until it has read the retries, those of the last owner count as well as its own.
      const state = { ...rest, owner, ...(retries && { retries: { ...retries, owners: [...retries.owners, owner] } }) };
      const cursor = new Cursor(
        owner,
        known?.revision ?? 0,
        (data, meta) => this.#publish(place.stream, place.subject, data, meta),
        () => this.read(topic, group),
      );
      check();
      try {
        await cursor.save(state);
        return { cursor, state, isNew: known === undefined, isLeft: left !== undefined && left === known?.state.owner };
      } catch (error) {
        // Its owner wrote in between: take the newer state.
        if (!(error instanceof Fenced)) throw error;
      }
    }
  }

  async #publish(stream: string, subject: string, data: Uint8Array, meta: MsgHdrs): Promise<PubAck> {
    try {
      return await this.#deps.publisher.publish(subject, data, meta);
    } catch (error) {
      if (error instanceof NoStream) this.#deps.streams.forget(stream);
      throw error;
    }
  }

  async groups(topic: string): Promise<string[]> {
    const { stream, subject } = this.#deps.layout.cursorsOf(topic);
    const info = await orNone(this.#deps.api.streamInfo(stream, { subjects_filter: subject }));
    return Object.keys(info?.state.subjects ?? {})
      .map(groupOf)
      .sort();
  }

  async remove(topic: string, group: string): Promise<void> {
    const { stream, subject } = this.#deps.layout.cursorOf(topic, group);
    await orNone(this.#deps.api.call(`STREAM.PURGE.${stream}`, { filter: subject }));
  }
}

type Publish = (data: Uint8Array, meta: MsgHdrs) => Promise<PubAck>;
type Read = () => Promise<{ state: CursorState; revision: number } | undefined>;

/** One group's cursor, in the hands of one consumer. Each write names the revision it replaces. */
export class Cursor {
  readonly owner: string;
  #revision: number;
  readonly #publish: Publish;
  readonly #read: Read;
  #asking: Promise<boolean> | undefined;

  constructor(owner: string, revision: number, publish: Publish, read: Read) {
    this.owner = owner;
    this.#revision = revision;
    this.#publish = publish;
    this.#read = read;
  }

  /** Throws `Fenced` when another consumer owns the group. One call at a time. */
  async save(state: CursorState): Promise<void> {
    try {
      await this.#write(state);
    } catch (error) {
      if (!(error instanceof WrongLastSequence)) throw error;
      // An own write whose confirmation was lost looks like another consumer's.
      const stored = await this.#read();
      if (stored?.state.owner !== this.owner) throw new Fenced('another consumer has taken the group over');
      this.#revision = stored.revision;
      await this.#write(state);
    }
  }

  /** Asks the broker whether no other consumer has taken the group over. Calls of one turn of the event loop share the question. */
  isOwned(): Promise<boolean> {
    this.#asking ??= this.#ask();
    return this.#asking;
  }
  async #ask(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#asking = undefined;
    return (await this.#read())?.state.owner === this.owner;
  }

  async #write(state: CursorState): Promise<void> {
    const meta = headers();
    meta.set('Nats-Expected-Last-Subject-Sequence', String(this.#revision));
    this.#revision = (await this.#publish(encodeCursor(state), meta)).seq;
  }
}
