/** One entry per keyword: it checks itself at compile time and returns a closure for run time. */
import { arrayKeywords } from './keywords-array.ts';
import { combiningKeywords } from './keywords-combining.ts';
import { objectKeywords } from './keywords-object.ts';
import { scalarKeywords } from './keywords-scalar.ts';
import type { Keyword } from './run.ts';

export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...scalarKeywords,
  ...objectKeywords,
  ...arrayKeywords,
  ...combiningKeywords,
};

/** Keywords that are only annotations, or that another keyword reads. */
const NOTES: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$comment',
  '$vocabulary',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'then',
  'else',
  'minContains',
  'maxContains',
  'additionalItems',
  'nullable',
]);

/** Keywords of the standard that check something and are not implemented. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
]);

/** What a misspelt keyword can have meant. */
const CHECKING = [
  ...Object.keys(KEYWORDS),
  '$ref',
  '$defs',
  'definitions',
  'then',
  'else',
  'minContains',
  'maxContains',
  'additionalItems',
];

/**
 * The fault of an unknown keyword, or undefined if it is an annotation, which the standard ignores. Rejected is what its author
 * believes to be checked: keywords that are not implemented, and misspelt ones (`requierd`).
 */
export function unknownKeyword(keyword: string): string | undefined {
  if (NOTES.has(keyword) || keyword.startsWith('x-')) return undefined;
  if (UNSUPPORTED.has(keyword)) return 'is not a supported keyword';
  const [meant] = CHECKING.map((known) => ({ known, distance: distanceOf(keyword, known) }))
    .filter(({ known, distance }) => distance <= allowedIn(known))
    .sort((a, b) => a.distance - b.distance)
    .map(({ known }) => known);
  return meant === undefined ? undefined : `is not a keyword; did you mean ${meant}? Names that begin with x- are never checked`;
}

/** One letter may be wrong, two in a long name. */
function allowedIn(known: string): number {
  return known.length <= 3 ? 0 : known.length <= 6 ? 1 : 2;
}

/** How many letters are wrong, missing, swapped or too many, apart from upper case. */
function distanceOf(keyword: string, known: string): number {
  if (Math.abs(keyword.length - known.length) > allowedIn(known)) return Number.POSITIVE_INFINITY;
  const [a, b] = [keyword.toLowerCase(), known.toLowerCase()];
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
