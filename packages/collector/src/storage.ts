/**
 * localStorage, and memory where that is denied, full or not yet allowed. Callers need not know which.
 * Keys begin with `_df`; everything is shared by the tabs of an origin.
 */
import { attempt } from './page.ts';

const memory: Record<string, string> = {};
/** With a required consent category nothing is kept on the device until it is granted. */
export let isOpen = !F_GATE;
/** What was written last ends with the page. */
export let isVolatile = false;

export const read = (key: string): string | undefined => memory[key] ?? attempt(() => localStorage[key]);
export const remove = (key: string) => {
  delete memory[key];
  attempt(() => delete localStorage[key]);
};
export const write = (key: string, value: string) => {
  memory[key] = value;
  isVolatile = !(
    isOpen &&
    attempt(() => {
      localStorage[key] = value;
      return delete memory[key];
    })
  );
};
export const keys = (prefix: string): string[] =>
  [...Object.keys(attempt(() => localStorage) || {}), ...Object.keys(memory)].filter((key) => key.startsWith(prefix)).sort();

/** Opens or closes the device for us, and moves what we have to the other side. */
export const setOpen = (to: boolean) => {
  isOpen = to;
  for (const key of keys('_df')) {
    const value = read(key)!;
    remove(key);
    write(key, value);
  }
};
