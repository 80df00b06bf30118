/** The oracle of every fault: compares the ids answered 200 with the ids that arrived. */
import type { Figures } from './fault.ts';

export function compare(
  figures: Figures,
  accepted: Set<string>,
  arrived: { ids: Set<string>; repeated: Map<string, number> },
  most: { repeatedPercent?: number } = {},
): void {
  const lost = [...accepted].filter((id) => !arrived.ids.has(id)).length;
  const again = [...arrived.repeated.values()].reduce((sum, count) => sum + count - 1, 0);
  figures.tell('accepted', accepted.size);
  figures.equal('accepted and never delivered', lost, 0);
  const percent = (100 * again) / Math.max(1, accepted.size);
  if (most.repeatedPercent === undefined) figures.tell('delivered twice', again);
  else if (most.repeatedPercent === 0) figures.equal('delivered twice', again, 0);
  else
    figures.holds('delivered twice', `≤ ${most.repeatedPercent} %`, percent <= most.repeatedPercent, `${again} (${percent.toFixed(3)} %)`);
}
/** The same, from a list of arrived ids. */
export function arrivalsOf(ids: Iterable<string>): { ids: Set<string>; repeated: Map<string, number> } {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return { ids: new Set(counts.keys()), repeated: new Map([...counts].filter(([, count]) => count > 1)) };
}
