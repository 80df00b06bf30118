import { isGone, type JetStreamApi, orNone } from './api.ts';
import type { DirectGet } from './direct-get.ts';
import { fromPatch, type Message, PATCH_INDEXES, PATCH_SEQ, PATCH_TIME } from './message.ts';
import { PATCH_STREAM, type Place, patchSubject } from './names.ts';
import type { Publisher } from './publisher.ts';
import { encodeBatch, packRecord } from './record-batch.ts';
import type { Streams } from './streams.ts';

export interface PatchesDeps {
  api: JetStreamApi;
  direct: DirectGet;
  publisher: Publisher;
  streams: Streams;
  maxPayload(): number;
}

/**
 * Removes single records from stored batches. A message cannot be changed, so its remaining records are stored as a patch, and the message
 * is deleted. Where a message is missing, readers look for its patch.
 */
export class Patches {
  readonly #deps: PatchesDeps;

  constructor(deps: PatchesDeps) {
    this.#deps = deps;
  }

  async get(topic: string, subject: string, seq: number): Promise<Message | undefined> {
    const patch = await this.#deps.direct.leaderGet(PATCH_STREAM, { last_by_subj: patchSubject(topic, seq) });
    return patch && fromPatch(patch, subject);
  }

  /** The sequences of patched messages, in order. */
  async list(topic: string): Promise<number[]> {
    const filter = { subjects_filter: patchSubject(topic, '*') };
    const info = await orNone(this.#deps.api.streamInfo(PATCH_STREAM, filter));
    return Object.keys(info?.state.subjects ?? {})
      .map((subject) => Number(subject.slice(subject.lastIndexOf('.') + 1)))
      .sort((a, b) => a - b);
  }

  /** Removes the records for which `isErased` is true, if the message is older than `before`. Returns their number. */
  async rewrite(
    { topic, stream, subject }: Place,
    seq: number,
    isErased: (index: number) => boolean,
    before = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    const original = await this.#deps.direct.leaderGet(stream, { seq });
    const message = original?.subject === subject ? original : await this.get(topic, subject, seq);
    if (!message || message.time >= before) return 0;
    const left: number[] = [];
    let removed = 0;
    for (const [index, record] of message.records.entries())
      if (record && isErased(index)) removed++;
      else if (record) left.push(index);
    if (removed === 0) return 0;
    if (left.length > 0) await this.#store(topic, message, left);
    else await orNone(this.#deps.api.call(`STREAM.PURGE.${PATCH_STREAM}`, { filter: patchSubject(topic, seq) }));
    if (message === original) await this.#delete(stream, seq);
    return removed;
  }

  async #store(topic: string, message: Message, indexes: number[]): Promise<void> {
    const { maxPayload, publisher, streams } = this.#deps;
    await streams.ensurePatches();
    const records = indexes.flatMap((index) => message.record(index) ?? []);
    const { data, headers } = encodeBatch(records.map(packRecord), maxPayload());
    headers.set(PATCH_INDEXES, indexes.join(','));
    headers.set(PATCH_SEQ, String(message.seq));
    headers.set(PATCH_TIME, String(message.time));
    await publisher.publish(patchSubject(topic, message.seq), data, headers);
  }
  /** The server overwrites the message on disk. */
  async #delete(stream: string, seq: number): Promise<void> {
    try {
      await this.#deps.api.call(`STREAM.MSG.DELETE.${stream}`, { seq });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }

  /** Removes all patches of a topic. */
  async purge(topic: string): Promise<void> {
    await orNone(this.#deps.api.call(`STREAM.PURGE.${PATCH_STREAM}`, { filter: patchSubject(topic, '*') }));
  }
}
