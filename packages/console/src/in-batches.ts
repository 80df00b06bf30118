/** Asked for one id at a time, asks the API once for all ids of a moment. */
const MOMENT_MS = 10;
/** The API takes so many ids. */
const MOST = 100;

export function inBatches<T>(load: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>): (id: string) => Promise<T | null> {
  let open: { ids: Set<string>; answer: Promise<ReadonlyMap<string, T>> } | undefined;
  function begin() {
    const ids = new Set<string>();
    const answer = new Promise((resolve) => setTimeout(resolve, MOMENT_MS)).then(() => {
      if (open?.ids === ids) open = undefined;
      return load([...ids]);
    });
    return { ids, answer };
  }
  return async (id) => {
    if (open === undefined || open.ids.size >= MOST) open = begin();
    open.ids.add(id);
    return (await open.answer).get(id) ?? null;
  };
}
