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
export const NOTES: ReadonlySet<string> = new Set([
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
