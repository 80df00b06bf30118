import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';

/**
 * Where topics live on the broker.
 *
 * | stream | subjects | holds |
 * |---|---|---|
 * | `firsthand_<family>_<shard>` | `firsthand.<shard>.<topic>` | record batches of the busy families, spread over `NATS_STREAMS` streams |
 * | `firsthand_other` | `firsthand.other.<topic>` | record batches of all other topics, dead letters among them |
 * | `firsthand_cursors_<shard>` | `firsthand-cursors.<shard>.<topic>.<group>` | the position of each group: one message per subject |
 * | `firsthand_journal_<shard>` | `firsthand-journal.<shard>.<topic>.<group>` | settlements since the cursor was stored, in the memory of one broker |
 * | `firsthand_ids` | `firsthand-ids.<topic>` | the ids of a topic's messages within `DEDUP_WINDOW`, many messages in one |
 * | `firsthand_retries` | `firsthand-retries.<topic>.<group>` | one message per waiting retry |
 * | `firsthand_patches` | `firsthand-patches.<topic>.<seq>` | the remaining records of a batch after single ones were erased |
 */
const SAFE_TOPIC = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const SHARDED: ReadonlySet<string> = new Set(['ingest', 'events', 'outcomes']);

export const RETRY_STREAM = 'firsthand_retries';
export const RETRY_SUBJECTS = 'firsthand-retries.>';
export const ID_STREAM = 'firsthand_ids';
export const ID_SUBJECTS = 'firsthand-ids.>';
export const PATCH_STREAM = 'firsthand_patches';
export const PATCH_SUBJECTS = 'firsthand-patches.>';
export const CANARY_SUBJECT = 'firsthand-canary';
export const CANARY_STREAM = CANARY_SUBJECT;

export interface Place {
  topic: string;
  family: string;
  stream: string;
  /** The subjects that the stream captures. */
  subjects: string[];
  subject: string;
}
export interface CursorPlace {
  stream: string;
  subjects: string[];
  subject: string;
}

/** Maps topics to streams. The number of streams is fixed when an installation is created. */
export class Layout {
  readonly streams: number;
  /** Throws on a text that cannot be a topic. */
  readonly placeOf: (topic: string) => Place;

  constructor(streams: number) {
    this.streams = streams;
    this.placeOf = remembered((topic) => this.#place(topic));
  }

  #place(topic: string): Place {
    checkTopic(topic);
    const family = familyOf(topic);
    if (!SHARDED.has(family))
      return { topic, family, stream: 'firsthand_other', subjects: ['firsthand.other.>'], subject: `firsthand.other.${topic}` };
    const shard = this.#shardOf(topic);
    const root = `firsthand.${shard}.${family}`;
    return { topic, family, stream: `firsthand_${family}_${shard}`, subjects: [root, `${root}.>`], subject: `firsthand.${shard}.${topic}` };
  }

  /** Every stream and subject filter that may hold topics of this family. */
  familyFilters(family: string): { stream: string; filters: string[] }[] {
    if (!SHARDED.has(family)) {
      const root = `firsthand.other.${family}`;
      return [{ stream: 'firsthand_other', filters: family.startsWith('dlq-') ? [root] : [root, `${root}.>`] }];
    }
    return Array.from({ length: this.streams }, (_, shard) => {
      const root = `firsthand.${shard}.${family}`;
      return { stream: `firsthand_${family}_${shard}`, filters: [root, `${root}.>`] };
    });
  }

  /** Streams that may hold topics whose names begin with `prefix`, with the part of the subject before the topic. */
  streamsOf(prefix: string): { stream: string; before: string }[] {
    const found = [{ stream: 'firsthand_other', before: 'firsthand.other.' }];
    for (const family of SHARDED)
      if (family.startsWith(prefix) || prefix === family || prefix.startsWith(`${family}.`))
        for (let shard = 0; shard < this.streams; shard++)
          found.push({ stream: `firsthand_${family}_${shard}`, before: `firsthand.${shard}.` });
    return found;
  }

  cursorOf(topic: string, group: string): CursorPlace {
    checkTopic(topic);
    const shard = this.#shardOf(topic);
    const root = `firsthand-cursors.${shard}`;
    return { stream: `firsthand_cursors_${shard}`, subjects: [`${root}.>`], subject: `${root}.${encode(topic)}.${encode(group)}` };
  }
  journalOf(topic: string, group: string): CursorPlace {
    checkTopic(topic);
    const shard = this.#shardOf(topic);
    const root = `firsthand-journal.${shard}`;
    return { stream: `firsthand_journal_${shard}`, subjects: [`${root}.>`], subject: `${root}.${encode(topic)}.${encode(group)}` };
  }
  cursorsOf(topic: string): CursorPlace {
    const place = this.cursorOf(topic, 'x');
    return { ...place, subject: place.subject.replace(/x$/, '*') };
  }

  #shardOf(topic: string): number {
    const number = /\.(\d{1,6})$/.exec(topic)?.[1];
    if (number !== undefined) return Number(number) % this.streams;
    return fnv1a(topic) % this.streams;
  }
}

/** Of the names that a process uses again and again. */
const MOST_REMEMBERED = 20_000;
function remembered<T>(make: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    let made = known.get(name);
    if (made === undefined) {
      made = make(name);
      if (known.size >= MOST_REMEMBERED) known.clear();
      known.set(name, made);
    }
    return made;
  };
}

function checkTopic(topic: string): void {
  if (!SAFE_TOPIC.test(topic) || topic.length > 200) throw new RangeError(`not the name of a topic: ${JSON.stringify(topic)}`);
}

export function familyOf(topic: string): string {
  const dot = topic.indexOf('.');
  return dot < 0 ? topic : topic.slice(0, dot);
}
export function groupOf(cursorSubject: string): string {
  return decode(cursorSubject.slice(cursorSubject.lastIndexOf('.') + 1));
}
export function retrySubject(topic: string, group: string): string {
  return `firsthand-retries.${encode(topic)}.${encode(group)}`;
}
export function idSubject(topic: string): string {
  return `firsthand-ids.${encode(topic)}`;
}
/** `seq`: one message, or `*`. */
export function patchSubject(topic: string, seq: number | '*'): string {
  return `firsthand-patches.${encode(topic)}.${seq}`;
}

/** A subject token must not contain dots, spaces or wildcards. */
const encode = remembered((text) =>
  text.replace(/[^A-Za-z0-9_-]/g, (char) => [...Buffer.from(char)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join('')),
);
function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('=', '%'));
}

/** Header values must not contain line breaks or outer spaces, but ids may. */
export function encodeText(text: string): string {
  return /^[\x21-\x24\x26-\x7e]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
export function decodeText(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}
