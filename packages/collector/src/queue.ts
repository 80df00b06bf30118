/**
 * Events that the server has not confirmed, oldest first, one storage key each: two tabs may add and remove at the same time
 * without a lock, and an event is safe the moment it was tracked. Bounded in number and size; over the bound the oldest go.
 */
import { emit } from './emitter.ts';
import { key } from './options.ts';
import { keys, read, remove, write } from './storage.ts';

const PREFIX = `_df_q${key}.`;

/** Storage key and the event's JSON. */
export type Entry = [name: string, json: string];

let serial = 1e6;

export const settle = (batch: Entry[]) => {
  for (const [name] of batch) remove(name);
};
export const giveUp = (batch: Entry[]) => {
  settle(batch);
  for (const [, json] of batch) emit('error', json);
};

export const put = (json: string, id: string) => {
  // Time, then a serial number of fixed length: sorted names are the order of the calls.
  write(PREFIX + Date.now().toString(36) + serial + id, json);
  if (serial++ % L_TRIM_EVERY) return;
  let chars = 0;
  giveUp(
    take(Infinity, Infinity, [])
      .reverse()
      .filter((entry, i) => (chars += entry[1].length) > L_QUEUE_CHARS || i >= L_QUEUE_EVENTS),
  );
};

/**
 * Under way when the page ended, so perhaps received. Repeated by a page that follows soon, while the server still knows the
 * messageId; a visitor who returns later must not bring yesterday's event a second time.
 */
export const markUnclear = (batch: Entry[]): Entry[] => {
  settle(batch);
  return batch.map(([name, json]) => {
    write((name += '!'), json);
    return [name, json];
  });
};

/** The next batch: at most so many events and characters, but always one. */
export const take = (maxEvents: number, maxChars: number, skip: Entry[]): Entry[] => {
  const batch: Entry[] = [];
  for (const name of keys(PREFIX)) {
    if (/!$/.test(name) && name < PREFIX + (Date.now() - L_UNCLEAR_MS).toString(36)) remove(name);
    const json = !skip.some((entry) => entry[0] === name) && read(name);
    if (json) {
      maxChars -= json.length;
      if (batch[0] && (batch.length >= maxEvents || maxChars < 0)) break;
      batch.push([name, json]);
    }
  }
  return batch;
};
