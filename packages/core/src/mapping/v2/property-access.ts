import { put } from '../../json.ts';
import { ACCESSES, type PropertyAccess } from './generated/property-accesses.ts';

export type { PropertyAccess } from './generated/property-accesses.ts';

/**
 * V8 caches property locations per source position. Each name therefore gets its own copy of the same two functions, which is several
 * times as fast as one place that reads and writes every name (docs/decisions/0015). Vendors share most of their names.
 */
const given = new Map<string, PropertyAccess>();

/** The name must not exist on a prototype if it is read. */
export function accessTo(name: string): PropertyAccess {
  const known = given.get(name);
  if (known) return known;
  const make = name === '__proto__' ? undefined : ACCESSES[given.size];
  if (!make) return { read: (box) => box[name], write: (box, value) => put(box, name, value) };
  const access = make(name);
  given.set(name, access);
  return access;
}
