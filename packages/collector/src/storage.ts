/**
 * localStorage, and memory where that is denied, full or not yet allowed. Callers need not know which.
 * Keys begin with `_df`; everything is shared by the tabs of an origin.
 */
import { attempt } from './page.ts';

/** What ends with the page. */
export const memory: Record<string, string | number> = {};
/** With a required consent category nothing is kept on the device until it is granted. False once it is denied. */
export let isOpen: boolean | undefined;

/** Asked for once: whether a page may use it is for another process to say. */
const store: Record<string, string | number> | undefined = attempt(() => localStorage);

export const read = (key: string) => (memory[key] ?? store?.[key]) as string | undefined;
export const remove = (key: string) => {
  delete memory[key];
  delete store?.[key];
};
/** `briefly`: it is soon clear whether it has to be kept at all. */
export const write = (key: string, value: string | number, briefly?: number) => {
  memory[key] = value;
  if (!briefly && (!F_GATE || isOpen) && attempt(() => (store![key] = value))) delete memory[key];
};
export const keys = (mark: string): string[] =>
  [store || {}, memory]
    .flatMap(Object.keys)
    .filter((key) => key.includes(mark))
    .sort();

/** What is only in memory, onto the device where it may and can be. */
export const keep = () => {
  for (const key in memory) move(key, key);
};

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
