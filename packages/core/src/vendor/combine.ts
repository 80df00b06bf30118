/** Items of one request with the same key become one (`batch.combine`). */
import type { Prepared } from './assemble.ts';
import type { VendorItem, Verdict } from './compiled.ts';
import type { BatchDefinition } from './definition.ts';
import { mergeConfig } from './merge.ts';

type How = NonNullable<BatchDefinition['combine']>['how'];

export interface Combined {
  sent: VendorItem[];
  /** For each original item, the index of the item in `sent` that stands for it. */
  position: number[];
}

/** The combined item keeps the place of the first. Items without a key stay alone. */
export function combineItems(items: readonly VendorItem[], how: How, encode: (value: unknown) => string): Combined {
  const sent: VendorItem[] = [];
  const position: number[] = [];
  const known = new Map<string, number>();
  for (const item of items) {
    const { combine } = item.payload as Prepared;
    const before = combine && known.get(combine.by);
    if (before === undefined) {
      if (combine) known.set(combine.by, sent.length);
      position.push(sent.length);
      sent.push(item);
      continue;
    }
    position.push(before);
    sent[before] = how === 'last' ? item : merged(sent[before] ?? item, item, encode);
  }
  return { sent, position };
}

function merged(older: VendorItem, newer: VendorItem, encode: (value: unknown) => string): VendorItem {
  const before = older.payload as Prepared;
  const after = newer.payload as Prepared;
  const value = mergeConfig(before.combine?.value, after.combine?.value);
  const payload: Prepared = { ...after, text: encode(value), combine: { by: after.combine?.by ?? '', value } };
  return { ...newer, payload };
}

/** A verdict on the sent items as one on the original items. */
export function expandVerdict(verdict: Verdict, position: readonly number[]): Verdict {
  if (verdict.kind !== 'partial') return verdict;
  return {
    kind: 'partial',
    items: position.map((at) => verdict.items[at] ?? { kind: 'unavailable', reason: 'the answer has no verdict for this item' }),
  };
}
