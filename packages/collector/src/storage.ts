/**
 * localStorage, and memory where that is denied, full or not yet allowed. Callers need not know which.
 * Keys begin with `_df`; everything is shared by the tabs of an origin.
 */
import { attempt } from './page.ts';

const memory: Record<string, string> = Object.create(null);
/** With a required consent category nothing is kept on the device until it is granted. */
let open = !F_GATE;

export const isOpen = () => open;
export const read = (key: string): string | undefined => memory[key] ?? attempt(() => localStorage.getItem(key)) ?? undefined;
export const remove = (key: string) => {
  delete memory[key];
  attempt(() => localStorage.removeItem(key));
};
export const write = (key: string, value: string) => {
  try {
    if (!open) throw 0;
    localStorage.setItem(key, value);
    delete memory[key];
  } catch {
    memory[key] = value;
  }
};
/** Whether what is kept under this key ends with the page. */
export const isVolatile = (key: string) => key in memory;
export const keys = (prefix: string): string[] =>
  (attempt(() => Object.keys(localStorage)) || [])
    .concat(Object.keys(memory))
    .filter((key) => key.startsWith(prefix))
    .sort();

/** Opens or closes the device for us, and moves what we have to the other side. */
export const setOpen = (to: boolean) => {
  open = to;
  for (const key of keys('_df')) {
    const value = read(key)!;
    remove(key);
    write(key, value);
  }
};
