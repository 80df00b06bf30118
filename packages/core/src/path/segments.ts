/**
 * The text form of a path: `properties.products[0].name`, `products[*].sku`, `context["a.b"]` (or `['a.b']`) for names that contain
 * dots or brackets. A leading `$` or `$.` means the root and is optional; `$` alone is the root itself. Inside quotes a backslash
 * escapes the next character.
 */
export type Segment = { kind: 'key'; key: string } | { kind: 'index'; index: number } | { kind: 'each' };

const MAX_PATH_LENGTH = 1_000;
export const MAX_PATH_SEGMENTS = 64;
/** Limits target indexes: a larger one would let one line of configuration build a huge array for every event. */
const MAX_INDEX = 9_999;

export type ParsedPath = { ok: true; segments: readonly Segment[] } | { ok: false; message: string };

const BRACKET = /^\[(?:(\*)|(\d{1,5})|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]/s;

const KNOWN_PATHS = 10_000;
const known = new Map<string, ParsedPath>();

/** Cached: every mapping and every reload uses the same few hundred paths. */
export function parsePath(text: string): ParsedPath {
  const before = known.get(text);
  if (before) return before;
  const parsed = parse(text);
  if (parsed.ok && known.size < KNOWN_PATHS) known.set(text, Object.freeze({ ok: true, segments: Object.freeze(parsed.segments) }));
  return parsed;
}

function parse(text: string): ParsedPath {
  if (typeof text !== 'string' || text === '') return fault('A path must be a non-empty string.');
  if (text.length > MAX_PATH_LENGTH) return fault(`A path may be at most ${MAX_PATH_LENGTH} characters long.`);
  const segments: Segment[] = [];
  let at = 0;
  if (text[0] === '$' && (text.length === 1 || text[1] === '.' || text[1] === '[')) {
    at = text[1] === '.' ? 2 : 1;
    if (at === 2 && text.length === 2) return fault('A path must not end in a dot.');
  }
  while (at < text.length) {
    if (segments.length === MAX_PATH_SEGMENTS) return fault(`A path may have at most ${MAX_PATH_SEGMENTS} parts.`);
    if (text[at] === '[') {
      const match = BRACKET.exec(text.slice(at));
      if (!match) return fault(`Position ${at + 1}: expected [n], [*], ["name"] or ['name'].`);
      const segment = bracketSegment(match);
      if (segment.kind === 'index' && segment.index > MAX_INDEX) return fault(`An index may be at most ${MAX_INDEX}.`);
      segments.push(segment);
      at += match[0].length;
    } else {
      const end = nameEnd(text, at);
      if (end === at) return fault(`Position ${at + 1}: a name is missing.`);
      segments.push({ kind: 'key', key: interned(text.slice(at, end)) });
      at = end;
    }
    if (at === text.length || text[at] === '[') continue;
    if (text[at] !== '.') return fault(`Position ${at + 1}: expected a dot or a bracket.`);
    at += 1;
    if (at === text.length) return fault('A path must not end in a dot.');
    if (text[at] === '[') return fault(`Position ${at + 1}: a bracket follows its name without a dot.`);
  }
  return { ok: true, segments };
}

/** The shortest text that parses back to these segments. */
export function formatPath(segments: readonly Segment[]): string {
  let text = '';
  for (const segment of segments) {
    if (segment.kind === 'each') text += '[*]';
    else if (segment.kind === 'index') text += `[${segment.index}]`;
    else if (segment.key === '' || /[.[\]"'\\$]/.test(segment.key)) text += `["${segment.key.replace(/["\\]/g, '\\$&')}"]`;
    else text += text === '' ? segment.key : `.${segment.key}`;
  }
  return text === '' ? '$' : text[0] === '[' ? `$${text}` : text;
}

function bracketSegment(match: RegExpExecArray): Segment {
  if (match[1]) return { kind: 'each' };
  if (match[2] !== undefined) return { kind: 'index', index: Number(match[2]) };
  return { kind: 'key', key: interned((match[3] ?? match[4] ?? '').replace(/\\(.)/gs, '$1')) };
}

/**
 * Returns V8's internalized copy of the name. Looking up a property by a substring is several times slower, because V8 searches for the
 * internalized copy each time. Using the name as a key internalizes it once.
 */
function interned(name: string): string {
  return Object.keys({ [name]: 0 })[0] ?? name;
}

function nameEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '.' || char === '[') return at;
    if (char === ']') return from;
  }
  return text.length;
}

function fault(message: string): { ok: false; message: string } {
  return { ok: false, message };
}
