/**
 * Events that the server has not confirmed, oldest first, one storage key each: two tabs may add and remove at the same time
 * without a lock, and an event is safe the moment it was tracked. Bounded in number and size; over the bound the oldest go.
 */
import { emit } from './emitter.ts';
import { key } from './options.ts';
import { attempt } from './page.ts';
import { isVolatile, keys, read, remove, write } from './storage.ts';

const MAX_EVENTS = 2000;
const MAX_CHARS = 2e6;
const PREFIX = `_df_q${key}.`;

export interface Entry {
  key: string;
  json: string;
}

export const giveUp = (entry: Entry) =>
  emit(
    'error',
    attempt(() => JSON.parse(entry.json)),
  );

let serial = 1e6;
let count = 0;
let chars = 0;

/** Makes room for a tenth at once, so that a full queue is not measured anew for every event. */
const trim = () => {
  count = chars = 0;
  for (const name of keys(PREFIX).reverse()) {
    const json = read(name) || '';
    if (++count > MAX_EVENTS * 0.9 || (chars += json.length) > MAX_CHARS * 0.9) {
      remove(name);
      giveUp({ key: name, json });
    }
  }
};

export const put = (json: string, id: string) => {
  // Time, then a serial number of fixed length: sorted names are the order of the calls.
  write(PREFIX + Date.now().toString(36) + serial++ + id, json);
  if (++count > MAX_EVENTS || (chars += json.length) > MAX_CHARS) trim();
};

/** The next batch: at most so many events and characters, but always one. */
export const take = (maxEvents: number, maxChars: number, skip: Entry[], onlyVolatile?: boolean): Entry[] => {
  const batch: Entry[] = [];
  for (const name of keys(PREFIX)) {
    if (skip.some((entry) => entry.key === name) || (onlyVolatile && !isVolatile(name))) continue;
    const json = read(name);
    if (!json) continue;
    maxChars -= json.length;
    if (batch.length && (batch.length >= maxEvents || maxChars < 0)) break;
    batch.push({ key: name, json });
  }
  return batch;
};

export const settle = (batch: Entry[]) => {
  for (const entry of batch) remove(entry.key);
  count -= batch.length;
};
