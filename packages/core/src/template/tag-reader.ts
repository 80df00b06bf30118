/** The inside of one tag: a name or literal, its arguments, options (`key=value`) and block parameters (`as |item index|`). */
import { type CallNode, type ExpressionNode, type HashNode, type Location, type PathNode, TemplateFault } from './ast.ts';
import { skipQuoted } from './lexer.ts';

const MAX_DEPTH = 32;
/** Segments of a path, arguments and options of a call. */
const MAX_ITEMS = 64;
/** Names may hold anything but white space and the characters that Handlebars gives a meaning to. */
const NAME = /[^\s!"#%-,./;->@[-^`{-~]+/y;
const LITERAL = /(?:-?\d+(?:\.\d+)?|true|false|null|undefined)(?=[\s)]|$)/y;
const OPTION = /([^\s!"#%-,./;->@[-^`{-~]+|\[[^\]]*\])=/y;
const BLOCK_PARAMS = /as\s+\|/y;

export interface TagContent extends Pick<CallNode, 'path' | 'params' | 'hash'> {
  blockParams: string[];
}

export function readTagContent(source: string, loc: Location): TagContent {
  const reader = new TagReader(source, loc);
  const content = reader.call(0);
  const blockParams = reader.blockParams();
  reader.end();
  return { ...content, blockParams };
}

class TagReader {
  readonly #source: string;
  readonly #loc: Location;
  #at = 0;

  constructor(source: string, loc: Location) {
    this.#source = source;
    this.#loc = loc;
  }

  call(depth: number): Pick<CallNode, 'path' | 'params' | 'hash'> {
    const path = this.#expression(depth);
    const params: ExpressionNode[] = [];
    const pairs: HashNode['pairs'] = [];
    for (let next = this.#next(); next !== '' && next !== ')' && !this.#looksAt(BLOCK_PARAMS); next = this.#next()) {
      const option = this.#take(OPTION);
      if (option !== undefined) pairs.push({ key: option.slice(0, -1).replace(/^\[(.*)\]$/s, '$1'), value: this.#expression(depth) });
      else if (pairs.length > 0) throw this.#fault('Arguments stand before options.');
      else params.push(this.#expression(depth));
      if (params.length + pairs.length > MAX_ITEMS) throw this.#fault(`A call takes at most ${MAX_ITEMS} arguments.`);
    }
    return { path, params, ...(pairs.length > 0 && { hash: { pairs } }) };
  }

  blockParams(): string[] {
    const names: string[] = [];
    if (this.#next() === '' || this.#take(BLOCK_PARAMS) === undefined) return names;
    for (let next = this.#next(); next !== '|'; next = this.#next()) {
      const name = this.#take(NAME);
      if (name === undefined) throw this.#fault('A block parameter is a name, between two bars.');
      names.push(name);
    }
    this.#at += 1;
    if (names.length === 0) throw this.#fault('Block parameters need a name.');
    return names;
  }

  end(): void {
    if (this.#next() !== '') throw this.#fault(`Unexpected ${JSON.stringify(this.#source.slice(this.#at, this.#at + 20))}.`);
  }

  #expression(depth: number): ExpressionNode {
    const next = this.#next();
    if (next === '(') {
      if (depth >= MAX_DEPTH) throw this.#fault(`Expressions may be nested at most ${MAX_DEPTH} deep.`);
      this.#at += 1;
      const call = this.call(depth + 1);
      if (this.#next() !== ')') throw this.#fault('A closing bracket is missing.');
      this.#at += 1;
      return { type: 'SubExpression', ...call };
    }
    if (next === '"' || next === "'") return this.#quoted(next);
    const literal = this.#take(LITERAL);
    return literal === undefined ? this.#path() : literalNode(literal);
  }

  #quoted(quote: string): ExpressionNode {
    const end = skipQuoted(this.#source, this.#at);
    if (end < 0) throw this.#fault('A quote is not closed.');
    const value = this.#source.slice(this.#at + 1, end).replaceAll(`\\${quote}`, quote);
    this.#at = end + 1;
    return { type: 'StringLiteral', value };
  }

  /** `a.b`, `a/b`, `../a`, `this.a`, `./a`, `@root.a`, `a.[any name]`. */
  #path(): PathNode {
    const data = this.#source[this.#at] === '@';
    if (data) this.#at += 1;
    const parts: string[] = [];
    let depth = 0;
    let original = data ? '@' : '';
    for (;;) {
      const { name, quoted } = this.#segment();
      original += name;
      if (!quoted && (name === '..' || name === '.' || name === 'this')) {
        if (parts.length > 0) throw this.#fault(`The path ${JSON.stringify(original)} is not valid.`);
        if (name === '..') depth += 1;
      } else parts.push(name);
      if (parts.length + depth > MAX_ITEMS) throw this.#fault(`A path has at most ${MAX_ITEMS} segments.`);
      const separator = this.#source[this.#at];
      if (separator !== '.' && separator !== '/') break;
      this.#at += 1;
      original += separator;
    }
    return { type: 'PathExpression', data, depth, parts, original };
  }

  #segment(): { name: string; quoted: boolean } {
    if (this.#source[this.#at] === '[') {
      const end = this.#source.indexOf(']', this.#at);
      if (end < 0) throw this.#fault('A ] is missing.');
      const name = this.#source.slice(this.#at + 1, end);
      this.#at = end + 1;
      return { name, quoted: true };
    }
    const name = this.#take(DOTS) ?? this.#take(NAME);
    if (name === undefined) throw this.#fault(this.#source === '' ? 'The tag is empty.' : 'A name or a value is expected.');
    return { name, quoted: false };
  }

  /** The next character after white space; empty at the end. */
  #next(): string {
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at += 1;
    return this.#source[this.#at] ?? '';
  }
  #looksAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#source);
  }
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#source)?.[0];
    if (taken !== undefined) this.#at += taken.length;
    return taken;
  }
  #fault(message: string): TemplateFault {
    return new TemplateFault(message, this.#loc);
  }
}

const DOTS = /\.\.|\.(?=[\s/)]|$)/y;

function literalNode(text: string): ExpressionNode {
  if (text === 'null') return { type: 'NullLiteral' };
  if (text === 'undefined') return { type: 'UndefinedLiteral' };
  if (text === 'true' || text === 'false') return { type: 'BooleanLiteral', value: text === 'true' };
  return { type: 'NumberLiteral', value: Number(text) };
}
