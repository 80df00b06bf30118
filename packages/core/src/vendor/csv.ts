/** CSV as in RFC 4180, one item per line. */

import { compilePath } from '../path/path.ts';
import type { ListBody } from './definition.ts';
import { toText } from './text.ts';

type CsvDefinition = Extract<ListBody, { kind: 'csv' }>;
export interface CompiledCsv {
  /** The header line with its line break; empty without one. */
  head: string;
  encode(item: unknown): string;
}

export function compileCsv({ columns, delimiter = ',', header = true }: CsvDefinition): CompiledCsv {
  const getters = Object.values(columns).map((path) => {
    const compiled = compilePath(path);
    if (!compiled.ok) throw new Error(`csv column path ${path}: ${compiled.message}`);
    return compiled.get;
  });
  const line = (cells: string[]) => cells.map((cell) => quote(cell, delimiter)).join(delimiter);
  return {
    head: header ? `${line(Object.keys(columns))}\r\n` : '',
    encode: (item) => line(getters.map((get) => toText(get(item)))),
  };
}

function quote(cell: string, delimiter: string): string {
  const text = cell.toWellFormed();
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
