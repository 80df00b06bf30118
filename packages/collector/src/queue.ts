/**
 * Unconfirmed events, oldest first, one storage key each, so an event is safe as soon as it is tracked. The key holds the time
 * and the owning page. Only the owner sends the event, so two tabs never send the same one. Number and size are bounded over
 * all pages; beyond that the oldest events are discarded.
 */
import { emit } from './emitter.ts';
import { key } from './options.ts';
import { uuid } from './page.ts';
import { isOpen, keys, move, read, remove, write } from './storage.ts';

const PREFIX = `_df_q${key}.`;
/** This page's id. As a storage key its value is the time until which the page holds its events. */
export const own = `_df_l${uuid()}`;

/** Storage key and the event's JSON. */
export type Entry = [name: string, json: string];

let serial = 1e6;

/** Removes delivered or discarded events and calls the handlers of `outcome`. */
export const settle = (batch: Entry[], outcome?: 'error' | false) => {
  for (const [name, json] of batch) {
    remove(name);
    emit(outcome, json);
  }
};

export const put = (json: string, briefly: number) => {
  // Time, then a serial number of fixed length: sorting by key gives the order of the calls.
  write(`${PREFIX + Date.now().toString(36) + serial}.${own}`, json, briefly);
  if (!(++serial % L_TRIM_EVERY)) trim();
};

/** Discards the oldest events beyond the bound, over all pages. */
export const trim = () => {
  let chars = 0;
  settle(
    take(Infinity, Infinity, PREFIX)
      .reverse()
      .filter((entry, i) => (chars += entry[1].length) > L_QUEUE_CHARS || i >= L_QUEUE_EVENTS),
    'error',
  );
};

/**
 * Marks events in flight when the page ended: they may have been received. A page that follows soon repeats them, while the
 * server still deduplicates by messageId. Later they are discarded, so that an event is not counted twice.
 */
export const markUnclear = (batch: Entry[]) => {
  for (const entry of batch) move(entry[0], (entry[0] += '.'));
};

/** The next batch of this page, within both limits. A single event may exceed `maxChars`. */
export const take = (maxEvents: number, maxChars: number, mark = own, skip: Entry[] = []): Entry[] => {
  const batch: Entry[] = [];
  for (const name of keys(PREFIX)) {
    if (name.endsWith('.') && name < PREFIX + (Date.now() - L_UNCLEAR_MS).toString(36)) remove(name);
    const json = name.includes(mark) && !skip.flat().includes(name) && read(name);
    if (json) {
      maxChars -= json.length;
      if (batch[0] && (batch.length >= maxEvents || maxChars < 0)) break;
      batch.push([name, json]);
    }
  }
  return batch;
};

const ownerOf = (name: string) => name.split('.')[2]!;

let asking: ReturnType<typeof setTimeout> | number;
/**
 * Takes over events of pages that are gone. To ask, a page writes a unique time in the future to the owner's key. A live owner
 * overwrites it with its own. If several pages ask at once the last write wins; a later page sees the key as held and waits. A
 * page that still reads its own value after L_ADOPT_MS, which is long compared with storage latency, renames the events to
 * itself. An owner that wakes up later finds them gone.
 */
export const adopt = (then: () => void) => {
  const now = Date.now();
  // Without storage no other page would see the question.
  const others = asking || (F_GATE && !isOpen) ? [] : keys(PREFIX).filter((name) => !name.includes(own));
  const asked = others.filter((name) => !(+read(ownerOf(name))! > now));
  const ours = now + L_ADOPT_MS * (2 + Math.random());
  for (const name of asked) write(ownerOf(name), ours);
  if (others[0])
    asking = setTimeout(() => {
      asking = 0;
      for (const name of asked.filter((one) => +read(ownerOf(one))! === ours)) {
        remove(ownerOf(name));
        move(name, name.replace(ownerOf(name), own));
      }
      then();
    }, L_ADOPT_MS);
};
