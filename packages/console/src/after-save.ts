/** The form after a save: a field that still has the sent value takes the stored one. A field that was edited meanwhile stays. */
export function afterSave<T extends object>(sent: T, now: T, saved: T): T {
  const same = (key: keyof T): boolean => JSON.stringify(now[key]) === JSON.stringify(sent[key]);
  const keys = Object.keys({ ...saved, ...now }) as (keyof T)[];
  return Object.fromEntries(keys.map((key) => [key, same(key) ? saved[key] : now[key]])) as T;
}
