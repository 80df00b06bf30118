/**
 * Puts stored secrets back where a client sent their masks. Elements of lists (table rows, requests) are matched by their content, never by
 * position alone: after a reorder or a deletion no secret belongs to another row.
 */
import { isObject, type Json, type JsonObject, put } from '@firsthand/core/json.ts';
import type { Steps } from '@firsthand/core/steps.ts';
import { atPlaces, isMask, maskValue, type Path, type Places, placesOf } from './mask.ts';

/** Changed elements are compared cell by cell. Above this number of comparisons their masks count as unknown. */
const MAX_CHANGED_COMPARED = 20_000;
/** Each list in a list is compared again. Masks in deeper ones count as unknown. */
const MAX_NESTED_LISTS = 4;

/**
 * Replaces every mask with the stored secret of that field. `secrets` are the places of secrets in `sent`. `unknown` lists masks without a
 * matching secret, or with more than one: storing the mask itself would silently lose the secret.
 */
export function* restoreMaskedInSteps(
  sent: JsonObject,
  stored: JsonObject,
  secrets: readonly Path[],
): Steps<{ config: JsonObject; unknown: Path[] }> {
  const unknown: Path[] = [];
  /** `masks` and `places`: where masks and secrets are below this value. */
  function* restore(value: Json, kept: Json | undefined, masks: Places, places: Places, path: Path, lists: number): Steps<Json> {
    if (masks.ends) {
      if (kept !== undefined && maskValue(kept) === value) return kept;
      unknown.push(path);
      return value;
    }
    const list = Array.isArray(value) ? value : undefined;
    const partners = list && lists < MAX_NESTED_LISTS ? yield* partnersOf(list, kept, masks, places) : [];
    const copy = (list ? [...list] : { ...(value as JsonObject) }) as Record<string, Json>;
    for (const [key, below] of masks.below) {
      const partner = list ? partners[Number(key)] : own(kept, key);
      const at = [...path, list ? Number(key) : key];
      put(copy, key, yield* restore(copy[key] as Json, partner, below, places.below.get(key) ?? below, at, list ? lists + 1 : lists));
    }
    return copy as Json;
  }
  const masked = secrets.filter((path) => isMask(valueAt(sent, path) ?? null));
  if (masked.length === 0) return { config: sent, unknown };
  return { config: (yield* restore(sent, stored, placesOf(masked), placesOf(secrets), [], 0)) as JsonObject, unknown };
}

interface Element {
  /** The masks in it, by path. */
  masks: { path: Path; mask: Json }[];
  /** What is not secret, by top-level key, as text. */
  open: Map<string, string>;
  /** All of the above as one text: elements with the same one look the same to a client. */
  look: string;
}

/** The stored element of each sent one that has masks; undefined where there is none, or no telling which. */
function* partnersOf(sent: readonly Json[], kept: Json | undefined, masks: Places, places: Places): Steps<(Json | undefined)[]> {
  const partners: (Json | undefined)[] = sent.map(() => undefined);
  if (!Array.isArray(kept)) return partners;
  const common = merged([...places.below.values()]);
  const stored: Element[] = [];
  for (const item of kept) {
    yield;
    stored.push(describe(item, common));
  }
  const rows = new Map<number, Element>();
  for (const key of masks.below.keys()) {
    yield;
    rows.set(Number(key), describe(sent[Number(key)] as Json, common));
  }
  const free = new Set(kept.keys());
  const take = (index: number, found: number) => {
    partners[index] = kept[found];
    free.delete(found);
    rows.delete(index);
  };
  // Unchanged elements first. Several that look the same keep their order, unless one of them is gone.
  const storedByLook = Map.groupBy(free, (found) => stored[found]?.look);
  for (const [look, indexes] of Map.groupBy(rows.keys(), (index) => rows.get(index)?.look)) {
    const same = storedByLook.get(look) ?? [];
    if (same.length === indexes.length) for (const [n, index] of indexes.entries()) take(index, same[n] ?? -1);
  }
  if (rows.size * free.size > MAX_CHANGED_COMPARED) return partners;
  // Then changed ones: the only element that shares the most with it, among those that its masks fit.
  for (const [index, row] of [...rows]) {
    yield;
    const candidates = [...free]
      .filter((found) => row.masks.every(({ path, mask }) => maskedAt(kept[found], path) === mask))
      .map((found) => ({ found, shared: shared(row, stored[found]) }));
    const most = Math.max(...candidates.map((one) => one.shared));
    const [best, second] = candidates.filter((one) => one.shared === most);
    if (best !== undefined && second === undefined) take(index, best.found);
  }
  return partners;
}

/** The places of all: what is secret in one element is left out of the text of every other one. */
function merged(all: readonly Places[]): Places {
  if (all.length === 1) return all[0] as Places;
  const byKey = Map.groupBy(
    all.flatMap(({ below }) => [...below]),
    ([key]) => key,
  );
  const below = [...byKey].map(([key, same]) => [key, merged(same.map(([, place]) => place))] as const);
  return { ends: all.some(({ ends }) => ends), below: new Map(below) };
}

function describe(item: Json, places: Places): Element {
  const masks: Element['masks'] = [];
  const open = atPlaces(item, places, (secret, path) => {
    masks.push({ path, mask: isMask(secret) ? secret : maskValue(secret) });
    return null;
  });
  const cells = isObject(open) ? Object.entries(open) : [];
  return { masks, open: new Map(cells.map(([key, value]) => [key, JSON.stringify(value)])), look: JSON.stringify([open, masks]) };
}

/** In how many open cells two elements agree. */
function shared({ open }: Element, other: Element | undefined): number {
  let count = 0;
  for (const [key, text] of open) if (text !== 'null' && other?.open.get(key) === text) count++;
  return count;
}

function maskedAt(value: Json | undefined, path: Path): Json | undefined {
  const found = valueAt(value, path);
  return found === undefined ? undefined : maskValue(found);
}
function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let here = value;
  for (const key of path) here = own(here, key);
  return here;
}
function own(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, Json>)[key];
}
