/** JSON in steps: `JSON.parse` of a document of 1 MB takes up to 30 ms. */
import { put } from './json.ts';
import type { Steps } from './steps.ts';

/** A step reads about this much. */
const STEP_CHARS = 65_536;
/** Large members below this are parsed in one step: the stack is not endless. */
const MAX_DEPTH = 64;

/** The value of `JSON.parse`, or a SyntaxError. */
export function* parseInSteps(text: string, stepChars = STEP_CHARS): Steps<unknown> {
  if (text.length <= stepChars) return JSON.parse(text);
  const reader = new Reader(text, stepChars);
  const value = yield* reader.value(0);
  if (!reader.isAtEnd()) throw new SyntaxError('There is text after the value.');
  return value;
}

/**
 * Parses the members of large objects and lists in pieces with `JSON.parse`, which checks their content. What is between the pieces is
 * checked here: brackets, commas, and the names of large members.
 */
class Reader {
  readonly #text: string;
  readonly #stepChars: number;
  #at = 0;

  constructor(text: string, stepChars: number) {
    this.#text = text;
    this.#stepChars = stepChars;
  }

  isAtEnd(): boolean {
    return this.#next() === undefined;
  }

  *value(depth: number): Steps<unknown> {
    const first = this.#next();
    if (first === '[' && depth < MAX_DEPTH) return yield* this.#list(depth + 1);
    if (first === '{' && depth < MAX_DEPTH) return yield* this.#object(depth + 1);
    return this.#take(endOfMember(this.#text, this.#at, this.#text.length));
  }

  *#list(depth: number): Steps<unknown[]> {
    const list: unknown[] = [];
    this.#at += 1;
    if (this.#next() === ']') this.#at += 1;
    else
      do {
        const end = this.#endOfPiece();
        if (end === this.#at) {
          // Every level looks for the end of the same large member.
          yield;
          list.push(yield* this.value(depth));
        } else {
          const piece = JSON.parse(`[${this.#slice(end)}]`) as unknown[];
          if (piece.length === 0) throw new SyntaxError('A list has nothing between two commas.');
          for (const item of piece) list.push(item);
          yield;
        }
      } while (this.#hasMore(']'));
    return list;
  }

  *#object(depth: number): Steps<object> {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#next() === '}') this.#at += 1;
    else
      do {
        const end = this.#endOfPiece();
        if (end === this.#at) {
          yield;
          put(object, this.#name(), yield* this.value(depth));
        } else {
          const piece = JSON.parse(`{${this.#slice(end)}}`) as Record<string, unknown>;
          const names = Object.keys(piece);
          if (names.length === 0) throw new SyntaxError('An object has nothing between two commas.');
          for (const name of names) put(object, name, piece[name]);
          yield;
        }
      } while (this.#hasMore('}'));
    return object;
  }

  /** Where the next members that fit into a step end: at a comma or a closing bracket. Here if the first does not fit. */
  #endOfPiece(): number {
    const most = this.#at + this.#stepChars;
    let end = this.#at;
    for (let start = end; ; start = end + 1) {
      const next = endOfMember(this.#text, start, most);
      if (next >= most) return end;
      end = next;
      if (this.#text.charCodeAt(end) !== COMMA) return end;
    }
  }

  /** The name of a member that does not fit into a step. */
  #name(): string {
    const name = this.#next() === '"' ? this.#take(endOfText(this.#text, this.#at) + 1) : undefined;
    if (typeof name !== 'string' || this.#next() !== ':') throw new SyntaxError('A field has no name.');
    this.#at += 1;
    return name;
  }

  /** After a member: whether another follows. */
  #hasMore(bracket: ']' | '}'): boolean {
    const next = this.#next();
    if (next !== ',' && next !== bracket) throw new SyntaxError(`A comma or ${bracket} is missing.`);
    this.#at += 1;
    return next === ',';
  }

  #take(end: number): unknown {
    return JSON.parse(this.#slice(end));
  }
  #slice(end: number): string {
    const piece = this.#text.slice(this.#at, end);
    this.#at = end;
    return piece;
  }
  /** The next character that is no space. */
  #next(): string | undefined {
    for (let code = this.#text.charCodeAt(this.#at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; )
      code = this.#text.charCodeAt(++this.#at);
    return this.#text[this.#at];
  }
}
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];

/** Offset of the comma or closing bracket after the member that begins at `from`. `most` if neither comes before. */
function endOfMember(text: string, from: number, most: number): number {
  const stop = Math.min(most, text.length);
  let depth = 0;
  for (let at = from; at < stop; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === COMMA) {
      if (depth === 0) return at;
    } else if (code === 0x5b || code === 0x7b) depth += 1;
    else if ((code === 0x5d || code === 0x7d) && --depth < 0) return at;
  }
  return most;
}
/** Offset of the quote that ends the text which begins at `from`. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at += 1;
  return at;
}
