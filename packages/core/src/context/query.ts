/**
 * Reads the query of a URL without building a URL object. Accepts what `new URL` rejects (relative URLs, broken escapes) and is several
 * times cheaper. Ignores the fragment.
 */
export function queryOf(url: string): string | undefined {
  const start = url.indexOf('?');
  if (start < 0) return undefined;
  const end = url.indexOf('#');
  if (end >= 0 && end < start) return undefined;
  return end < 0 ? url.slice(start + 1) : url.slice(start + 1, end);
}

const MAX_PARAMETERS = 200;

export function eachParameter(query: string, visit: (name: string, value: string) => void): void {
  let count = 0;
  for (let at = 0; at < query.length && count < MAX_PARAMETERS; count++) {
    let end = query.indexOf('&', at);
    if (end < 0) end = query.length;
    const equals = query.indexOf('=', at);
    if (equals > at && equals < end) visit(decode(query.slice(at, equals)), decode(query.slice(equals + 1, end)));
    at = end + 1;
  }
}

export function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced; // a broken escape is kept as it was written
  }
}
