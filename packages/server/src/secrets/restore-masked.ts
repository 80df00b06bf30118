/**
 * Puts stored secrets back where a client sent their masks. Elements of lists (table rows, requests) are matched by their content, never by
 * position alone: after a reorder or a deletion no secret belongs to another row.
 */
import { isObject, type Json, type JsonObject } from '@firsthand/core/json.ts';
import { atPaths, type IsSecretPath, isMask, maskValue, type Path, secretsIn } from './mask.ts';

/** Above this number of comparisons every mask in the list counts as unknown. */
const MAX_COMPARED = 250_000;
/** The same for elements that were changed: these are compared cell by cell. */
const MAX_CHANGED_COMPARED = 20_000;

/**
 * Replaces every mask with the stored secret of that field. `unknown` lists masks without a matching secret, or with more than one: storing
 * the mask itself would silently lose the secret.
 */
export function restoreMasked(sent: JsonObject, stored: JsonObject, isSecret: IsSecretPath): { config: JsonObject; unknown: Path[] } {
  const unknown: Path[] = [];
  function restore(value: Json, kept: Json | undefined, path: Path): Json {
    // Most configs have few masks, or none, and up to 20,000 values.
    if (!holdsMask(value)) return value;
    if (path.length > 0 && isSecret(path)) {
      if (!isMask(value)) return value;
      if (kept !== undefined && maskValue(kept) === value) return kept;
      unknown.push(path);
      return value;
    }
    if (Array.isArray(value)) {
      const partners = partnersOf(value, kept, isSecret, path);
      return value.map((item, index) => restore(item, partners[index], [...path, index]));
    }
    if (!isObject(value)) return value;
    // Entries, not assignment: a key named __proto__ stays data.
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, restore(item as Json, own(kept, key), [...path, key])]));
  }
  return { config: restore(sent, stored, []) as JsonObject, unknown };
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
function partnersOf(sent: readonly Json[], kept: Json | undefined, isSecret: IsSecretPath, at: Path): (Json | undefined)[] {
  const partners: (Json | undefined)[] = sent.map(() => undefined);
  if (!Array.isArray(kept) || sent.length * kept.length > MAX_COMPARED) return partners;
  const secrets = sent.map((item, index) => secretsIn(item, isSecret, [...at, index]));
  const masked = sent.flatMap((_, index) => (secrets[index]?.some(({ value }) => isMask(value)) ? [index] : []));
  if (masked.length === 0) return partners;
  const places = [...new Map(secrets.flat().map(({ path }) => [JSON.stringify(path), path])).values()];
  const stored = kept.map((item) => describe(item, places));
  const rows = new Map(masked.map((index) => [index, describe(sent[index] ?? null, places)]));
  const free = new Set(kept.keys());
  const take = (index: number, found: number) => {
    partners[index] = kept[found];
    free.delete(found);
    rows.delete(index);
  };
  // Unchanged elements first. Several that look the same keep their order, unless one of them is gone.
  const byLook = Map.groupBy([...rows.keys()], (index) => rows.get(index)?.look);
  for (const [look, indexes] of byLook) {
    const same = [...free].filter((found) => stored[found]?.look === look);
    if (same.length === indexes.length) for (const [n, index] of indexes.entries()) take(index, same[n] ?? -1);
  }
  if (rows.size * free.size > MAX_CHANGED_COMPARED) return partners;
  // Then changed ones: the only element that shares the most with it, among those that its masks fit.
  for (const [index, row] of [...rows]) {
    const candidates = [...free]
      .filter((found) => row.masks.every(({ path, mask }) => maskedAt(kept[found], path) === mask))
      .map((found) => ({ found, shared: shared(row, stored[found]) }));
    const most = Math.max(...candidates.map((one) => one.shared));
    const [best, second] = candidates.filter((one) => one.shared === most);
    if (best !== undefined && second === undefined) take(index, best.found);
  }
  return partners;
}

function holdsMask(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsMask);
  return isObject(value) ? Object.values(value).some((item) => holdsMask(item as Json)) : isMask(value);
}

function describe(item: Json, places: readonly Path[]): Element {
  const masks: Element['masks'] = [];
  const open = atPaths(item, places, (secret, path) => {
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
  let here: Json | undefined = value;
  for (const key of path) here = own(here, key);
  return here === undefined ? undefined : maskValue(here);
}
function own(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, Json>)[key];
}
