/**
 * Lists of texts and JSON in PostgreSQL's binary form (`array_recv`). In the text form each element is escaped here and parsed again by
 * the server, which costs both sides more than the insert of the row.
 */
import type { Cell } from '@firsthand/core/tables/columns.ts';

/** Oids of `pg_type`, which never change. `prefix`: the version byte of jsonb. */
const ELEMENTS: Readonly<Record<string, { oid: number; prefix: number }>> = {
  text: { oid: 25, prefix: 0 },
  json: { oid: 114, prefix: 0 },
  jsonb: { oid: 3802, prefix: 1 },
};
const HEADER_BYTES = 20;
const JSONB_VERSION = 1;
const NULL_LENGTH = -1;

/** Undefined where the type has no binary form here: send the list as it is. `cells`: texts and nulls. */
export function binaryArray(sql: string, cells: readonly Cell[]): Buffer | undefined {
  const element = Object.hasOwn(ELEMENTS, sql) ? ELEMENTS[sql] : undefined;
  if (element === undefined || cells.length === 0) return undefined;
  const { oid, prefix } = element;
  let size = HEADER_BYTES;
  let hasNull = 0;
  for (const cell of cells) {
    if (cell === null) hasNull = 1;
    else if (typeof cell !== 'string') return undefined;
    size += 4 + (cell === null ? 0 : prefix + Buffer.byteLength(cell));
  }
  const array = Buffer.allocUnsafe(size);
  // One dimension whose first index is 1.
  array.writeInt32BE(1, 0);
  array.writeInt32BE(hasNull, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(cells.length, 12);
  array.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const cell of cells) {
    if (typeof cell !== 'string') {
      at = array.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    const start = at + 4;
    if (prefix > 0) array[start] = JSONB_VERSION;
    const end = start + prefix + array.write(cell, start + prefix);
    array.writeInt32BE(end - start, at);
    at = end;
  }
  return array;
}
