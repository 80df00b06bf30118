/**
 * localStorage, or memory if that is denied, full or not yet allowed. Callers need not know which.
 * Keys begin with `_df`. The tabs of an origin share localStorage.
 */
import { attempt } from './page.ts';

/** Lost when the page ends. */
export const memory: Record<string, string | number> = {};
/** Whether localStorage may be used, with a required consent category. Undefined until that is known, false if denied. */
export let isOpen: boolean | undefined;

/** Accessed once: the browser asks another process whether the page may use it. */
const store: Record<string, string | number> | undefined = attempt(() => localStorage);

export const read = (key: string) => (memory[key] ?? store?.[key]) as string | undefined;
export const remove = (key: string) => {
  delete memory[key];
  delete store?.[key];
};
/** `briefly`: memory only for now, because the value may not need to be stored at all. */
export const write = (key: string, value: string | number, briefly?: number) => {
  memory[key] = value;
  if (!briefly && (!F_GATE || isOpen) && attempt(() => (store![key] = value))) delete memory[key];
};
export const keys = (mark: string): string[] =>
  [store || {}, memory]
    .flatMap(Object.keys)
    .filter((key) => key.includes(mark))
    .sort();

/** Moves values from memory to localStorage if possible. */
export const keep = () => {
  for (const key in memory) move(key, key);
};

export const move = (from: string, to: string) => {
  const value = read(from);
  remove(from);
  if (value) write(to, value);
};

/** Allows or forbids localStorage, and moves our values there or back to memory. */
export const setOpen = (to: boolean) => {
  isOpen = to;
  // `keys` also finds other scripts' keys that contain `_df`.
  for (const key of keys('_df')) if (/^_df/.test(key)) move(key, key);
};
