/** How many bytes of a bundle each part of the source takes, read from its source map. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export interface SourceMap {
  sources: string[];
  mappings: string;
}

/** Bytes by source, the largest first. `code` is the bundle that the map belongs to. */
export function bundleSizes({ sources, mappings }: SourceMap, code: string): [source: string, bytes: number][] {
  const lines = code.split('\n');
  const sizes = new Map<string, number>();
  let source = 0;
  mappings.split(';').forEach((line, number) => {
    const length = lines[number]?.length ?? 0;
    let column = 0;
    let before: { column: number; source: number } | undefined;
    const add = (to: number) => {
      const name = before && sources[before.source];
      if (before !== undefined && name !== undefined) sizes.set(name, (sizes.get(name) ?? 0) + to - before.column);
    };
    for (const segment of line.split(',')) {
      if (segment === '') continue;
      const [columns = 0, sourceStep] = decode(segment);
      column += columns;
      add(column);
      if (sourceStep !== undefined) source += sourceStep;
      before = { column, source };
    }
    add(length);
  });
  return [...sizes].sort(([, a], [, b]) => b - a);
}

/** Base64 VLQ: six bits per character, the lowest of the first is the sign. */
function decode(segment: string): number[] {
  const values: number[] = [];
  let value = 0;
  let shift = 0;
  for (const character of segment) {
    const digit = DIGITS.indexOf(character);
    value += (digit & 31) << shift;
    if (digit & 32) shift += 5;
    else {
      values.push(value & 1 ? -(value >> 1) : value >> 1);
      value = 0;
      shift = 0;
    }
  }
  return values;
}
