/**
 * Events that the server has not confirmed, oldest first, one storage key each: an event is safe the moment it was tracked.
 * Its name says when it was, and which page it belongs to: only that page sends it, so two tabs never send the same. Bounded
 * in number and size over all of them; over the bound the oldest go.
 */
import { emit } from './emitter.ts';
import { key } from './options.ts';
import { uuid } from './page.ts';
import { isOpen, keys, move, read, remove, write } from './storage.ts';

const PREFIX = `_df_q${key}.`;
/** This page among all that share the storage; as a storage key, until when it holds on to its events. */
export const own = `_df_l${uuid()}`;

/** Storage key and the event's JSON. */
export type Entry = [name: string, json: string];

let serial = 1e6;

/** Done with, one way or the other; handlers of `outcome` are told. */
export const settle = (batch: Entry[], outcome?: 'error' | false) => {
  for (const [name, json] of batch) {
    remove(name);
    emit(outcome, json);
  }
};

export const put = (json: string, briefly: number) => {
  // Time, then a serial number of fixed length: sorted names are the order of the calls.
  write(`${PREFIX + Date.now().toString(36) + serial}.${own}`, json, briefly);
  if (!(++serial % L_TRIM_EVERY)) trim();
};

/** Over all pages: the oldest events beyond the bound are given up. */
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
 * Under way when the page ended, so perhaps received. Repeated by a page that follows soon, while the server still knows the
 * messageId; a visitor who returns later must not bring yesterday's event a second time.
 */
export const markUnclear = (batch: Entry[]) => {
  for (const entry of batch) move(entry[0], (entry[0] += '.'));
};

/** The next batch of this page: at most so many events and characters, but always one. */
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

let asking: number;
/**
 * Events of pages that are gone become ours. We ask by writing a number that is ours alone where the owner would write until
 * when it holds on: an owner that lives writes its own again; of pages that ask at once the last one's stands, and who comes
 * later waits, because it reads as held. Who still reads its number, after a time that is long against the way through
 * storage, renames the events to itself. The owner, should it wake after all, finds them gone.
 */
export const adopt = (then: () => void) => {
  const now = Date.now();
  // Without the device nobody would hear us ask.
  const others = asking || (F_GATE && !isOpen) ? [] : keys(PREFIX).filter((name) => !name.includes(own));
  const asked = others.filter((name) => !((read(ownerOf(name)) as unknown as number) > now));
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
    }, L_ADOPT_MS) as unknown as number;
};
