/** Deletes the first entry. A map keeps insertion order, so a bounded cache drops its oldest entry with it. */
export function deleteOldest<K>(map: Map<K, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
