/** CSV as in RFC 4180, with line feeds. No value is an empty cell; an empty text is a quoted one. */
import { type Column, cellText } from './columns.ts';

export function toCsv(columns: readonly Column[], rows: number): string {
  const lines = [columns.map(({ name }) => quoted(name)).join(',')];
  for (let row = 0; row < rows; row++) {
    let line = '';
    for (const [index, { type, values }] of columns.entries()) {
      const value = values[row];
      if (index > 0) line += ',';
      if (value !== null && value !== undefined) line += quoted(cellText(value, type));
    }
    lines.push(line);
  }
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  // Many readers stop at a NUL character.
  const safe = text.replaceAll('\0', '\uFFFD');
  return safe === '' || /[",\r\n]/.test(safe) || safe.trim() !== safe ? `"${safe.replaceAll('"', '""')}"` : safe;
}
