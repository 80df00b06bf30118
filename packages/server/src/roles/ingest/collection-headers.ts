/**
 * The headers that collection reads. Node's `req.headers` holds all of them, which costs more than everything else that is done with a
 * request of a browser before its body is read. Repeated headers mean what they mean there.
 */
const NAMES = [
  'authorization',
  'content-encoding',
  'content-length',
  'cookie',
  'host',
  'origin',
  'referer',
  'sec-gpc',
  'user-agent',
  'x-challenge-token',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-ip-policy',
  'x-signature',
  'x-timestamp',
  'x-write-key',
] as const;
type Name = (typeof NAMES)[number];
export type CollectionHeaders = { readonly [name in Name]?: string };

/** The names by their length and first letter: nearly all other headers are ruled out without reading them. */
const CANDIDATES: readonly Name[][] = [];
const placeOf = (name: string) => name.length * 32 + (name.charCodeAt(0) & 31);
for (const name of NAMES) (CANDIDATES as Name[][])[placeOf(name)] = NAMES.filter((other) => placeOf(other) === placeOf(name));
/** Of these the first one counts. */
const SINGLE: ReadonlySet<Name> = new Set(['authorization', 'content-length', 'host', 'referer', 'user-agent']);

export function collectionHeaders(rawHeaders: readonly string[]): CollectionHeaders {
  const headers: { [name in Name]?: string } = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const candidates = CANDIDATES[placeOf(rawHeaders[at]!)];
    if (candidates === undefined) continue;
    const lower = rawHeaders[at]!.toLowerCase();
    for (const name of candidates) if (name === lower) add(headers, name, rawHeaders[at + 1]!);
  }
  return headers;
}

function add(headers: { [name in Name]?: string }, name: Name, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else if (!SINGLE.has(name)) headers[name] = before + (name === 'cookie' ? '; ' : ', ') + value;
}
