/** Collects ids that are requested one by one within a moment, and reads them with one call of the API. */
const MOMENT_MS = 10;
/** Most ids per call. */
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
