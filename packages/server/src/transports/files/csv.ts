/** CSV as in RFC 4180, with line feeds. No value is an empty cell; an empty text is a quoted one. */
import { type Column, cellText, type Value } from './columns.ts';

export function toCsv(columns: readonly Column[], rows: number): string {
  const lines = [columns.map(({ name }) => quoted(name)).join(',')];
  const readers = columns.map(readerOf);
  // Joined row by row: a text that grows by a thousand commas takes 30 times its length until somebody reads it.
  for (let row = 0; row < rows; row++) lines.push(readers.map((cellAt) => cellAt(row)).join(','));
  return `${lines.join('\n')}\n`;
}

/** To be asked for each row in order. */
function readerOf(column: Column): (row: number) => string {
  const { type, filled } = column;
  const cell = (value: Value | undefined) => (value === null || value === undefined ? '' : quoted(cellText(value, type)));
  if (filled === undefined) {
    const { values } = column;
    return (row) => cell(values[row]);
  }
  let next = 0;
  return (row) => (filled.rows[next] === row ? cell(filled.values[next++]) : '');
}

function quoted(text: string): string {
  // Many readers stop at a NUL character.
  const safe = text.replaceAll('\0', '\uFFFD');
  return safe === '' || /[",\r\n]/.test(safe) || safe.trim() !== safe ? `"${safe.replaceAll('"', '""')}"` : safe;
}
