/** How values become text. */

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // Only values that did not come from JSON are too deep or cyclic.
    return 'null';
  }
}

/** Missing and null are empty, objects and lists are JSON (Handlebars would write `[object Object]`). */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  return typeof value === 'object' ? jsonText(value) : '';
}

/** The inside of a JSON string: quotes, backslashes, control characters and lone surrogates escaped. */
export function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
