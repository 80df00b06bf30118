/**
 * localStorage, and memory where that is denied, full or not yet allowed. Callers need not know which.
 * Keys begin with `_df`; everything is shared by the tabs of an origin.
 */
import { attempt } from './page.ts';

/** What ends with the page. */
export const memory: Record<string, string | number> = {};
/** With a required consent category nothing is kept on the device until it is granted. */
export let isOpen = false;

export const read = (key: string): string | undefined => (memory[key] as string) ?? attempt(() => localStorage[key]);
export const remove = (key: string) => {
  delete memory[key];
  attempt(() => delete localStorage[key]);
};
export const write = (key: string, value: string | number) => {
  memory[key] = value;
  if (!F_GATE || isOpen)
    attempt(() => {
      localStorage[key] = value;
      delete memory[key];
    });
};
export const keys = (mark: string): string[] =>
  [attempt(() => localStorage) || {}, memory]
    .flatMap(Object.keys)
    .filter((key) => key.includes(mark))
    .sort();

export const move = (from: string, to: string) => {
  const value = read(from);
  remove(from);
  if (value) write(to, value);
};

/** Opens or closes the device for us, and moves what we have to the other side. */
export const setOpen = (to: boolean) => {
  isOpen = to;
  // Other scripts may have names that only contain ours.
  for (const key of keys('_df')) if (/^_df/.test(key)) move(key, key);
};
