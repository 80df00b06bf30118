/** Where the next page of a list begins. A page of large entries has fewer than its limit. */
export function nextOffset({ offset, total }: { offset: number; total: number }, shown: readonly unknown[]): number | undefined {
  const next = offset + shown.length;
  return shown.length === 0 || next >= total ? undefined : next;
}
