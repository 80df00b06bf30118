/**
 * Writes packages/core/src/mapping/v2/generated/field-copiers.ts: the same function many times over. `--check` only says whether the
 * file is up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export const FILE = new URL('../packages/core/src/mapping/v2/generated/field-copiers.ts', import.meta.url);
const COPIES = 48;
const FIELDS = 4;

function copier(): string {
  const indexes = Array.from({ length: FIELDS }, (_, i) => i);
  const names = indexes.flatMap((i) => [`s${i}`, `d${i}`]).join(', ');
  const lines = indexes.map((i) => {
    const copy = `v = from[s${i}]; if (v !== undefined && v !== null) { out[d${i}] = typeof v === 'object' ? ownCopy(v) : v; n++; }`;
    return i === 0 ? `    let ${copy}` : `    if (s${i} !== undefined) { ${copy} }`;
  });
  return [`  ({ ${names} }) => (from, out) => {`, '    let n = 0;', ...lines, '    return n;', '  },'].join('\n');
}

const fields = Array.from(
  { length: FIELDS },
  (_, i) => `  s${i}${i === 0 ? '' : '?'}: string;\n  d${i}${i === 0 ? '' : '?'}: string;`,
).join('\n');
export const text = `// Written by scripts/generate-field-copiers.ts. Do not edit.
import { ownCopy } from '../../copy.ts';

/** Source and target names of up to ${FIELDS} fields. */
export interface CopiedFields {
${fields}
}
/** Copies the fields that are there and says how many there were. */
export type FieldCopier = (from: Record<string, unknown>, out: Record<string, unknown>) => number;

export const COPIERS: readonly ((fields: CopiedFields) => FieldCopier)[] = [
${Array.from({ length: COPIES }, copier).join('\n')}
];
`.replaceAll(/out\[d([1-9])\]/g, 'out[d$1!]');

if (import.meta.main) {
  if (!process.argv.includes('--check')) writeFileSync(FILE, text);
  else if (readFileSync(FILE, 'utf8') !== text) {
    console.error('field-copiers.ts is out of date: run node scripts/generate-field-copiers.ts');
    process.exitCode = 1;
  }
}
