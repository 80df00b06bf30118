/** Writes the files of packages/core/src/mapping/v2/generated: the same functions many times over (docs/decisions/0015). */
import { writeFileSync } from 'node:fs';

const COPIES = 48;
const FIELDS = 4;
const NAMES = 256;

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
const copiers = `// Written by scripts/generate-field-copiers.ts. Do not edit.
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

const accesses = `// Written by scripts/generate-field-copiers.ts. Do not edit.
type Box = Record<string, unknown>;
/** Reads and writes the property of one name. */
export interface PropertyAccess {
  read(box: Box): unknown;
  write(box: Box, value: unknown): void;
}

export const ACCESSES: readonly ((name: string) => PropertyAccess)[] = [
${Array.from({ length: NAMES }, () => '  (k) => ({ read: (b) => b[k], write: (b, v) => { b[k] = v; } }),').join('\n')}
];
`;

const folder = new URL('../packages/core/src/mapping/v2/generated/', import.meta.url);
export const FILES = [
  { file: new URL('field-copiers.ts', folder), text: copiers },
  { file: new URL('property-accesses.ts', folder), text: accesses },
];

if (import.meta.main) for (const { file, text } of FILES) writeFileSync(file, text);
