import { setTimeout as sleep } from 'node:timers/promises';
import { LogUnavailable } from '../port.ts';
import type { ConsumerInfo, JetStreamApi, StreamInfo } from './api.ts';
import { orNone } from './api.ts';
import { CANARY_STREAM, CANARY_SUBJECT, type Place, parseDurable, placeOf, RETRY_STREAM } from './names.ts';

const LIST_FRESH_MS = 1_000;
const LIST_AGAIN_MS = 20;
const MOST_LISTS = 50;

/** The streams behind topics, created on first use. */
export class Streams {
  readonly #api: JetStreamApi;
  readonly #dedupWindowMs: number;
  readonly #replicas: number;
  readonly #ensured = new Map<string, Promise<void>>();
  readonly #lists = new Map<string, { at: number; infos: Promise<ConsumerInfo[]> }>();

  constructor(api: JetStreamApi, options: { dedupWindowMs: number; replicas: number }) {
    this.#api = api;
    this.#dedupWindowMs = options.dedupWindowMs;
    this.#replicas = options.replicas;
  }

  async ensure(topic: string): Promise<Place> {
    const place = placeOf(topic);
    await this.#make(place.stream, [place.subjects], 'limits');
    return place;
  }
  /** The stream for waiting retries. A retry is removed when it is acknowledged. */
  ensureRetries(): Promise<void> {
    return this.#make(RETRY_STREAM, ['firsthand-retry.>'], 'workqueue');
  }

  /** The stream that proves that something can be stored. It keeps one message. */
  ensureCanary(): Promise<void> {
    return this.#make(CANARY_STREAM, [CANARY_SUBJECT], 'limits', { max_msgs: 1, discard: 'old' });
  }

  #make(stream: string, subjects: string[], retention: 'limits' | 'workqueue', more: object = {}): Promise<void> {
    let ensured = this.#ensured.get(stream);
    if (!ensured) {
      ensured = this.#create(stream, subjects, retention, more);
      this.#ensured.set(stream, ensured);
      // Retry on the next call after a failure.
      ensured.catch(() => this.#ensured.delete(stream));
    }
    return ensured;
  }

  async #create(stream: string, subjects: string[], retention: string, more: object): Promise<void> {
    const nanos = this.#dedupWindowMs * 1_000_000;
    const config = {
      name: stream,
      subjects,
      retention,
      storage: 'file',
      discard: 'new',
      num_replicas: this.#replicas,
      duplicate_window: nanos,
      max_age: 0,
      max_bytes: -1,
      max_msgs: -1,
      max_consumers: -1,
      max_msg_size: -1,
      ...more,
    };
    const known = await orNone(this.#api.call<StreamInfo & { config: { duplicate_window: number } }>(`STREAM.INFO.${stream}`));
    if (!known) await this.#api.call(`STREAM.CREATE.${stream}`, config);
    else if (known.config.duplicate_window !== nanos)
      await this.#api.call(`STREAM.UPDATE.${stream}`, { ...known.config, duplicate_window: nanos });
  }

  forget(stream: string): void {
    this.#ensured.delete(stream);
    this.#lists.delete(stream);
  }

  /** The groups of a topic. May be up to a second old, which is safe because settled positions only grow. */
  async groups(topic: string): Promise<{ group: string; round: number; info: ConsumerInfo }[]> {
    const { stream } = placeOf(topic);
    let list = this.#lists.get(stream);
    if (!list || performance.now() - list.at > LIST_FRESH_MS) {
      list = { at: performance.now(), infos: this.#listConsumers(stream) };
      list.infos.catch(() => this.#lists.delete(stream));
      this.#lists.set(stream, list);
    }
    const groups: { group: string; round: number; info: ConsumerInfo }[] = [];
    for (const info of await list.infos) {
      const name = parseDurable(info.name);
      if (name?.topic === topic) groups.push({ group: name.group, round: name.round, info });
    }
    return groups;
  }
  /** Invalidates the cached list after a group was created or removed here. */
  groupsChanged(topic: string): void {
    this.#lists.delete(placeOf(topic).stream);
  }

  /**
   * The server lists a consumer that is being deleted as null, and its successor may be missing from the same list. Trusting that list
   * would make the topic look as if it had no readers, so it is requested again.
   */
  async #listConsumers(stream: string): Promise<ConsumerInfo[]> {
    for (let tries = 0; tries < MOST_LISTS; tries++) {
      const infos = await this.#listOnce(stream);
      if (infos.every((info) => info !== null)) return infos;
      await sleep(LIST_AGAIN_MS);
    }
    throw new LogUnavailable(`the consumers of ${stream} cannot be listed: they change all the time`);
  }

  async #listOnce(stream: string): Promise<(ConsumerInfo | null)[]> {
    const infos: (ConsumerInfo | null)[] = [];
    for (;;) {
      const page = await orNone(
        this.#api.call<{ total: number; consumers: (ConsumerInfo | null)[] | null }>(`CONSUMER.LIST.${stream}`, { offset: infos.length }),
      );
      if (!page?.consumers || page.consumers.length === 0) return infos;
      infos.push(...page.consumers);
      if (infos.length >= page.total) return infos;
    }
  }
}
