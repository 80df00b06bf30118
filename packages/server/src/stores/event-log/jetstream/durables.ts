import type { ConsumeOptions } from '../port.ts';
import { type ConsumerInfo, isNotFound, type JetStreamApi, orNone } from './api.ts';
import { durableOf, placeOf, RETRY_STREAM, retrySubject } from './names.ts';
import type { Streams } from './streams.ts';

export interface Durable {
  stream: string;
  durable: string;
}

/** The server redelivers a message that is not acknowledged within this time. */
export const ACK_WAIT_MS = 10_000;
const LEAST_ACK_PENDING = 20_000;

/** Maps groups to durable consumers on the server. */
export class Durables {
  readonly #api: JetStreamApi;
  readonly #streams: Streams;
  /** Durable in use per group, keyed by the name of the group's first durable. */
  readonly #current = new Map<string, string>();

  constructor(api: JetStreamApi, streams: Streams) {
    this.#api = api;
    this.#streams = streams;
  }

  async open(topic: string, group: string, options: ConsumeOptions): Promise<{ topic: Durable; retries: Durable }> {
    const { stream, subject } = await this.#streams.ensure(topic);
    // The server holds back retries that were nak'ed with a delay. A new consumer receives all of them at once.
    if (options.skipRetryDelays) await this.#drop(RETRY_STREAM, durableOf(topic, group));
    const retries = await this.#ensureRetries(topic, group);
    const config = {
      filter_subject: subject,
      max_ack_pending: Math.max(LEAST_ACK_PENDING, options.maxInFlight * 2),
      ...startOf(options.start),
    };
    const durable = options.ordered ? await this.#renew(topic, group, stream, config) : durableOf(topic, group);
    if (!options.ordered) await this.#ensure(stream, durable, config);
    this.#streams.groupsChanged(topic);
    this.#current.set(durableOf(topic, group), durable);
    return { topic: { stream, durable }, retries };
  }

  async #ensureRetries(topic: string, group: string): Promise<Durable> {
    await this.#streams.ensureRetries();
    const durable = durableOf(topic, group);
    await this.#ensure(RETRY_STREAM, durable, { filter_subject: retrySubject(topic, group), max_ack_pending: -1, deliver_policy: 'all' });
    return { stream: RETRY_STREAM, durable };
  }

  async #ensure(stream: string, durable: string, config: Record<string, unknown>): Promise<void> {
    const known = await orNone(this.#api.call<ConsumerInfo>(`CONSUMER.INFO.${stream}.${durable}`));
    if (!known) await this.#create(stream, durable, config);
    else if ((known.config.max_ack_pending ?? 0) < Number(config.max_ack_pending)) {
      const more = { ...known.config, max_ack_pending: config.max_ack_pending };
      await this.#api.call(`CONSUMER.DURABLE.CREATE.${stream}.${durable}`, { stream_name: stream, config: more });
    }
  }

  #create(stream: string, durable: string, config: Record<string, unknown>): Promise<unknown> {
    return this.#api.call(`CONSUMER.DURABLE.CREATE.${stream}.${durable}`, {
      stream_name: stream,
      config: {
        durable_name: durable,
        ack_policy: 'explicit',
        ack_wait: ACK_WAIT_MS * 1_000_000,
        max_deliver: -1,
        replay_policy: 'instant',
        ...config,
      },
    });
  }

  /**
   * The server redelivers in no particular order. An ordered reader therefore starts with a new consumer each time, right after the last
   * record settled without a gap. The new consumer is created before the old one is deleted: a crash in between leaves both, and the newer
   * one counts.
   */
  async #renew(topic: string, group: string, stream: string, config: Record<string, unknown>): Promise<string> {
    this.#streams.groupsChanged(topic);
    const rounds = (await this.#streams.groups(topic)).filter((known) => known.group === group).sort((a, b) => b.round - a.round);
    const last = rounds[0];
    const durable = durableOf(topic, group, (last?.round ?? -1) + 1);
    let start: Record<string, unknown> = {};
    if (last) {
      const info = await this.#api.call<ConsumerInfo>(`CONSUMER.INFO.${stream}.${last.info.name}`);
      start = { deliver_policy: 'by_start_sequence', opt_start_seq: (await this.#settledThrough(info)) + 1, opt_start_time: undefined };
    }
    await this.#create(stream, durable, { ...config, ...start });
    for (const { info } of rounds) await this.#drop(stream, info.name);
    return durable;
  }

  /** A consumer that has delivered nothing yet has no ack floor; its position is just before its start sequence. */
  async #settledThrough(info: ConsumerInfo): Promise<number> {
    const config = info.config as ConsumerInfo['config'] & { opt_start_seq?: number };
    return Math.max(info.ack_floor.stream_seq, (config.opt_start_seq ?? 1) - 1);
  }

  async #drop(stream: string, durable: string): Promise<void> {
    try {
      await this.#api.call(`CONSUMER.DELETE.${stream}.${durable}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async remove(topic: string, group: string): Promise<void> {
    this.#streams.groupsChanged(topic);
    for (const known of await this.#streams.groups(topic))
      if (known.group === group) await this.#drop(known.info.stream_name, known.info.name);
    this.#streams.groupsChanged(topic);
    this.#current.delete(durableOf(topic, group));
    const left = await orNone(this.#api.call(`STREAM.PURGE.${RETRY_STREAM}`, { filter: retrySubject(topic, group) }));
    if (left !== undefined) await this.#drop(RETRY_STREAM, durableOf(topic, group));
  }

  /** Requested directly when the durable's name is known, otherwise looked up in the list of all consumers. */
  async info(topic: string, group: string): Promise<ConsumerInfo | undefined> {
    const first = durableOf(topic, group);
    const { stream } = placeOf(topic);
    const known = await orNone(this.#api.call<ConsumerInfo>(`CONSUMER.INFO.${stream}.${this.#current.get(first) ?? first}`));
    if (known) return known;
    const rounds = (await this.#streams.groups(topic)).filter((one) => one.group === group).sort((a, b) => b.round - a.round);
    return rounds[0] && orNone(this.#api.call<ConsumerInfo>(`CONSUMER.INFO.${stream}.${rounds[0].info.name}`));
  }

  async retriesInfo(topic: string, group: string): Promise<ConsumerInfo | undefined> {
    return orNone(this.#api.call<ConsumerInfo>(`CONSUMER.INFO.${RETRY_STREAM}.${durableOf(topic, group)}`));
  }
}

function startOf(start: ConsumeOptions['start']): Record<string, unknown> {
  return start === 'beginning' ? { deliver_policy: 'all' } : { deliver_policy: 'by_start_time', opt_start_time: start.toISOString() };
}
