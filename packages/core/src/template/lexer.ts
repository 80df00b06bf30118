/**
 * Template text to pieces: fixed text, and tags (`{{…}}`) by kind. One pass, linear in the length of the text. White space
 * control (`~`, and tags that stand alone on a line) is applied here, so that the parser sees the final text.
 */
import { type Location, TemplateFault } from './ast.ts';

export type TagKind = 'open' | 'inverse' | 'else' | 'close' | 'value' | 'raw_value' | 'comment';
export interface Tag {
  type: 'tag';
  kind: TagKind;
  /** The inside, without braces, kind sign and `~`. */
  source: string;
  loc: Location;
}
export interface Text {
  type: 'text';
  value: string;
  loc: Location;
}
export type Piece = Text | Tag;
interface LexedTag extends Tag {
  stripsLeft: boolean;
  stripsRight: boolean;
}
interface LexedText extends Text {
  original: string;
}

/** Compiling one tag takes about 5 µs; no real request body comes near this number. */
const MAX_TAGS = 2_000;
/** Tags that disappear with their line when nothing else stands on it. */
const LINE_TAGS: ReadonlySet<TagKind> = new Set(['open', 'inverse', 'else', 'close', 'comment']);

export function lex(template: string): Piece[] {
  const pieces = cut(template);
  controlWhiteSpace(pieces);
  return pieces.filter((piece) => piece.type === 'tag' || piece.value !== '');
}

function cut(template: string): (LexedText | LexedTag)[] {
  const pieces: (LexedText | LexedTag)[] = [];
  const locate = locator(template);
  let tags = 0;
  const text = (from: number, to: number) => {
    if (to <= from) return;
    const value = template.slice(from, to);
    pieces.push({ type: 'text', value, original: value, loc: locate(from) });
  };
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf('{{', at);
    if (open < 0) {
      text(at, template.length);
      break;
    }
    if (template[open - 1] === '\\' && open > at && template[open - 2] !== '\\') {
      // `\{{`: the braces and what follows, up to the next tag, are text.
      text(at, open - 1);
      at = nextTag(template, open + 2);
      text(open, at);
      continue;
    }
    // `\\{{`: one backslash is text, and the tag counts.
    text(at, template[open - 1] === '\\' && open > at ? open - 1 : open);
    tags += 1;
    if (tags > MAX_TAGS) throw new TemplateFault(`A template may have at most ${MAX_TAGS} tags.`, locate(open));
    const { tag, end } = readTag(template, open, locate(open));
    pieces.push(tag);
    at = end;
  }
  return pieces;
}

/** Start of the next `{{`, with the backslashes that escape it. */
function nextTag(template: string, from: number): number {
  const open = template.indexOf('{{', from);
  if (open < 0) return template.length;
  if (template[open - 1] !== '\\' || open === from) return open;
  return template[open - 2] === '\\' && open - 2 >= from ? open - 2 : open - 1;
}

function readTag(template: string, open: number, loc: Location): { tag: LexedTag; end: number } {
  if (template.startsWith('{{{{', open)) throw new TemplateFault('Raw blocks are not supported.', loc);
  const triple = template[open + 2] === '{';
  let start = open + (triple ? 3 : 2);
  const stripsLeft = template[start] === '~';
  if (stripsLeft) start += 1;
  const sign = triple ? '' : (template[start] ?? '');
  if (sign === '!') return readComment(template, start, stripsLeft, loc);
  // Handlebars writes `{{~{x}~}}` for three braces with white space control.
  const inner = sign === '{';
  const closing = triple ? '}}}' : inner ? '}' : '}}';
  if (SIGNS.has(sign) || inner) start += 1;
  const close = endOfTag(template, start, closing);
  if (close < 0) throw new TemplateFault(`The tag is not closed: ${closing} is missing.`, loc);
  let end = close + closing.length;
  let source = template.slice(start, close);
  let stripsRight = false;
  if (inner) {
    stripsRight = template[end] === '~';
    if (!template.startsWith(stripsRight ? '~}}' : '}}', end)) throw new TemplateFault('The tag is not closed: }}} is missing.', loc);
    end += stripsRight ? 3 : 2;
  } else if (source.endsWith('~')) {
    stripsRight = true;
    source = source.slice(0, -1);
  }
  return {
    tag: { type: 'tag', kind: kindOf(sign, triple || inner, source, loc), source: source.trim(), loc, stripsLeft, stripsRight },
    end,
  };
}

const SIGNS: ReadonlySet<string> = new Set(['#', '/', '^', '&', '>']);
const ELSE = /^\s*else(?![^\s=}])/;

function kindOf(sign: string, raw: boolean, source: string, loc: Location): TagKind {
  if (sign === '>' || (sign === '#' && /^[>*]/.test(source))) throw new TemplateFault('Partials and decorators are not supported.', loc);
  if (sign === '#') return 'open';
  if (sign === '/') return 'close';
  if (sign === '^') return source.trim() === '' ? 'else' : 'inverse';
  if (raw || sign === '&') return 'raw_value';
  return ELSE.test(source) ? 'else' : 'value';
}

/** Position of the closing braces; those inside a quoted text or a `[name]` do not count. */
function endOfTag(template: string, from: number, closing: string): number {
  for (let at = from; at < template.length; at++) {
    const char = template[at];
    if (char === '"' || char === "'") {
      at = skipQuoted(template, at);
      if (at < 0) return -1;
    } else if (char === '[') {
      at = template.indexOf(']', at);
      if (at < 0) return -1;
    } else if (char === '{') return -1;
    else if (char === '}') return template.startsWith(closing, at) ? at : -1;
  }
  return -1;
}

export function skipQuoted(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\' && text[at + 1] === quote) at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function readComment(template: string, start: number, stripsLeft: boolean, loc: Location): { tag: LexedTag; end: number } {
  const long = template.startsWith('!--', start);
  const close = long ? endOfLongComment(template, start + 3) : template.indexOf('}}', start);
  if (close < 0) throw new TemplateFault('The comment is not closed.', loc);
  const stripsRight = template[close - 1] === '~' || (long && template[close + 2] === '~');
  const end = long ? close + (template[close + 2] === '~' ? 5 : 4) : close + 2;
  return { tag: { type: 'tag', kind: 'comment', source: '', loc, stripsLeft, stripsRight }, end };
}
function endOfLongComment(template: string, from: number): number {
  for (let at = template.indexOf('--', from); at >= 0; at = template.indexOf('--', at + 1))
    if (template.startsWith('}}', at + 2) || template.startsWith('~}}', at + 2)) return at;
  return -1;
}

function controlWhiteSpace(pieces: (LexedText | LexedTag)[]): void {
  for (const [index, tag] of pieces.entries()) {
    if (tag.type !== 'tag') continue;
    const before = textAt(pieces, index - 1);
    const after = textAt(pieces, index + 1);
    if (LINE_TAGS.has(tag.kind) && beginsLine(pieces, index) && endsLine(pieces, index)) {
      if (before !== undefined) before.value = before.value.replace(TRAILING_BLANKS, '');
      if (after !== undefined && after.value === after.original) after.value = after.value.replace(/^[ \t]*\r?\n?/, '');
    }
    if (tag.stripsLeft && before !== undefined) before.value = before.value.trimEnd();
    if (tag.stripsRight && after !== undefined) after.value = after.value.trimStart();
  }
}

function textAt(pieces: (LexedText | LexedTag)[], index: number): LexedText | undefined {
  const piece = pieces[index];
  return piece?.type === 'text' ? piece : undefined;
}
function beginsLine(pieces: (LexedText | LexedTag)[], index: number): boolean {
  if (index === 0) return true;
  const before = textAt(pieces, index - 1)?.original;
  if (before === undefined) return false;
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return line.trim() === '' && (line.length < before.length || index === 1);
}
function endsLine(pieces: (LexedText | LexedTag)[], index: number): boolean {
  if (index === pieces.length - 1) return true;
  const after = textAt(pieces, index + 1)?.original;
  if (after === undefined) return false;
  const newline = after.indexOf('\n');
  if (newline < 0) return index === pieces.length - 2 && after.trim() === '';
  return after.slice(0, newline).trim() === '';
}
/** The look-behind starts a match only where a run of blanks begins: without it a long run costs its square. */
const TRAILING_BLANKS = /(?<![ \t])[ \t]+$/;

/** Line and column of growing offsets, in one pass over the text. */
function locator(template: string): (offset: number) => Location {
  let line = 1;
  let lineStart = 0;
  let newline = template.indexOf('\n');
  return (offset) => {
    while (newline >= 0 && newline < offset) {
      line += 1;
      lineStart = newline + 1;
      newline = template.indexOf('\n', lineStart);
    }
    return { start: { line, column: offset - lineStart } };
  };
}
