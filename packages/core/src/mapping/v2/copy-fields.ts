import { COPIERS, type CopiedFields, type FieldCopier } from './generated/field-copiers.ts';

/**
 * V8 caches property locations per source position, so one shared loop over field names is slow. Instead, each set of names gets its
 * own copy of the same function, which is more than twice as fast (docs/decisions/0015). Only list elements use this, because most
 * fields are copied there. Equal sets share a copy. When all copies are taken, `copierFor` returns undefined and the caller copies in a
 * loop.
 */
const given = new Map<string, FieldCopier>();
const WIDTH = 4;

export interface CopiedField {
  from: string;
  to: string;
}

/** Undefined if all copies are taken. */
export function copierFor(fields: readonly CopiedField[]): FieldCopier | undefined {
  const chunks: FieldCopier[] = [];
  for (let i = 0; i < fields.length; i += WIDTH) {
    const chunk = copierOf(fields.slice(i, i + WIDTH));
    if (!chunk) return undefined;
    chunks.push(chunk);
  }
  const [a, b, c] = chunks;
  if (a && !b) return a;
  if (a && b && !c) return (from, out) => a(from, out) + b(from, out);
  return (from, out) => {
    let count = 0;
    for (const chunk of chunks) count += chunk(from, out);
    return count;
  };
}

function copierOf([a, b, c, d]: readonly CopiedField[]): FieldCopier | undefined {
  const name = JSON.stringify([a, b, c, d]);
  const known = given.get(name);
  if (known || !a) return known;
  const make = COPIERS[given.size];
  if (!make) return undefined;
  const names: CopiedFields = { s0: a.from, d0: a.to };
  if (b) Object.assign(names, { s1: b.from, d1: b.to });
  if (c) Object.assign(names, { s2: c.from, d2: c.to });
  if (d) Object.assign(names, { s3: d.from, d3: d.to });
  const copier = make(names);
  given.set(name, copier);
  return copier;
}
