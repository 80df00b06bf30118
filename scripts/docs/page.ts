/** A file of docs/ that is written from code. `file` is relative to the repository's root. */
export interface Page {
  file: string;
  text: string;
}

/** First line of a generated page: tells an editor where to make the change instead. */
export function generatedFrom(source: string): string {
  return `<!-- Generated from ${source} by \`node scripts/generate-docs.ts\`. Do not edit. -->\n`;
}

export function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(heads), `|${heads.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;
