/** Pieces of a template to its tree. Blocks nest at most 32 deep, which is checked before anything deeper is built. */
import { type BlockNode, type Location, type ProgramNode, type StatementNode, TemplateFault } from './ast.ts';
import { lex, type Piece, type Tag } from './lexer.ts';
import { readTagContent } from './tag-reader.ts';

const MAX_DEPTH = 32;

export function parseTemplate(template: string): ProgramNode {
  const parser = new Parser(lex(template));
  const program = parser.program(0);
  const left = parser.peek();
  if (left !== undefined)
    throw new TemplateFault(left.kind === 'else' ? 'else stands outside of a block.' : 'No block is open here.', left.loc);
  return program;
}

class Parser {
  readonly #pieces: Piece[];
  #at = 0;

  constructor(pieces: Piece[]) {
    this.#pieces = pieces;
  }

  /** Statements up to an `else`, a closing tag or the end. */
  program(depth: number, loc?: Location): ProgramNode {
    if (depth > MAX_DEPTH) throw new TemplateFault(`Blocks may be nested at most ${MAX_DEPTH} deep.`, loc);
    const body: StatementNode[] = [];
    for (let piece = this.#pieces[this.#at]; piece !== undefined; piece = this.#pieces[this.#at]) {
      if (piece.type === 'text') body.push({ type: 'ContentStatement', value: piece.value, loc: piece.loc });
      else if (piece.kind === 'else' || piece.kind === 'close') break;
      else {
        const statement = this.#statement(piece, depth);
        if (statement !== undefined) body.push(statement);
        continue;
      }
      this.#at += 1;
    }
    return { body };
  }

  /** The tag where `program` stopped. */
  peek(): Tag | undefined {
    const piece = this.#pieces[this.#at];
    return piece?.type === 'tag' ? piece : undefined;
  }

  #statement(tag: Tag, depth: number): StatementNode | undefined {
    this.#at += 1;
    if (tag.kind === 'comment') return undefined;
    if (tag.kind === 'open' || tag.kind === 'inverse') return this.#block(tag, depth);
    const { blockParams, ...content } = readTagContent(tag.source, tag.loc);
    if (blockParams.length > 0) throw new TemplateFault('Only blocks take block parameters.', tag.loc);
    return { type: 'MustacheStatement', ...content, escaped: tag.kind === 'value', loc: tag.loc };
  }

  #block(tag: Tag, depth: number): BlockNode {
    const block = this.#openBlock(tag, tag.source, depth);
    if (tag.kind === 'inverse') {
      block.inverse = block.program;
      block.program = undefined;
    }
    const close = this.peek();
    if (close === undefined) throw new TemplateFault(`Parse error: the block ${JSON.stringify(tag.source)} is not closed.`, tag.loc);
    if (close.kind === 'else') throw new TemplateFault('A block has one else.', close.loc);
    this.#at += 1;
    const opened = nameOf(block);
    if (close.source !== opened) throw new TemplateFault(`${opened} is open, but ${close.source} is closed.`, close.loc);
    return block;
  }

  /** A block up to its closing tag, which an `else if` shares with the block it belongs to. */
  #openBlock(tag: Tag, source: string, depth: number): BlockNode {
    const { blockParams, ...content } = readTagContent(source, tag.loc);
    const program = this.program(depth + 1, tag.loc);
    program.blockParams = blockParams;
    const block: BlockNode = { type: 'BlockStatement', ...content, program, loc: tag.loc };
    const otherwise = this.peek();
    if (otherwise?.kind !== 'else') return block;
    this.#at += 1;
    const chained = otherwise.source.replace(/^else\s*/, '');
    if (chained === '') block.inverse = this.program(depth + 1, otherwise.loc);
    else {
      if (depth >= MAX_DEPTH) throw new TemplateFault(`Blocks may be nested at most ${MAX_DEPTH} deep.`, otherwise.loc);
      block.inverse = { body: [this.#openBlock(otherwise, chained, depth + 1)] };
    }
    return block;
  }
}

function nameOf({ path }: BlockNode): string {
  return path.type === 'PathExpression' ? path.original : '';
}
