/**
 * Handlebars templates as closures over the parsed tree: paths, `if unless each with lookup json`, `else`, comments, white-space
 * control. No code is generated, only own properties are read, and output and work are bounded.
 */
import { PLACEHOLDER } from '../mapping/parameters/placeholder.ts';
import type { Roots } from '../path/path.ts';
import { type BlockNode, type ExpressionNode, type MustacheNode, type ProgramNode, type StatementNode, TemplateFault } from './ast.ts';
import { compileExpression, compileMustacheValue, type Evaluate, exactly, helperName, refuseHash } from './expressions.ts';
import { afterBranches, afterContent, type Position } from './json-position.ts';
import { DEFAULT_LIMIT, Output } from './output.ts';
import { parseTemplate } from './parser.ts';
import { innerScope, isFalsy, rootScope, type Scope } from './scope.ts';
import { escapeJson, plainText } from './text.ts';

/** `json`: the template writes a JSON document, values are escaped for the inside of texts. `text`: values are written as they are. */
export type TemplateMode = 'json' | 'text';
export type Rendered = { ok: true; text: string } | { ok: false; reason: string };
export type CompiledTemplate = { ok: true; render(context: unknown): Rendered } | { ok: false; message: string };

type Write = (scope: Scope, out: Output) => void;

const MAX_TEMPLATE_LENGTH = 256 * 1024;

export function compileTemplate(text: string, mode: TemplateMode, options: { roots?: Roots; limit?: number } = {}): CompiledTemplate {
  if (text.length > MAX_TEMPLATE_LENGTH) return { ok: false, message: `A template may be at most ${MAX_TEMPLATE_LENGTH} characters long.` };
  const limit = options.limit ?? DEFAULT_LIMIT;
  try {
    const write = new TemplateCompiler(mode, options.roots ?? {}).program(parseTemplate(keepPlaceholders(text)));
    return {
      ok: true,
      render(context) {
        const out = new Output(limit);
        write(rootScope(context, out), out);
        return out.fault === undefined ? { ok: true, text: out.text } : { ok: false, reason: out.fault };
      },
    };
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    return { ok: false, message: error.message.slice(0, 300) };
  }
}

/**
 * Numbers the placeholders of pipeline parameters in a JSON template, and returns those inside a string of the document: their values have to
 * be escaped. None in a template with a fault. Where the branches of a block differ, a placeholder counts as inside, as values do.
 */
export function placeholdersInStrings(text: string): ReadonlySet<number> {
  const inside = new Set<number>();
  if (text.length > MAX_TEMPLATE_LENGTH) return inside;
  let count = 0;
  const marked = text.replace(PLACEHOLDER, () => `${MARK}${count++}${MARK}`);
  const onText = (value: string, before: Position): void => {
    let position = before;
    for (const [i, part] of value.split(MARK).entries()) {
      if (i % 2 === 0) position = afterContent(position, part);
      else if (position !== 'outside') inside.add(Number(part));
    }
  };
  try {
    new TemplateCompiler('json', {}, onText).program(parseTemplate(marked));
    return inside;
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    return new Set();
  }
}
/** Of Unicode's private use, so that a placeholder may also be part of a name inside a tag. */
const MARK = '\u{f8ff}';

/** A pipeline parameter without a value stays as written, as it does everywhere else in a configuration. */
function keepPlaceholders(text: string): string {
  return text.replace(PLACEHOLDER, '\\$&');
}

class TemplateCompiler {
  readonly #mode: TemplateMode;
  readonly #roots: Roots;
  readonly #onText: ((value: string, before: Position) => void) | undefined;
  #position: Position = 'outside';

  constructor(mode: TemplateMode, roots: Roots, onText?: (value: string, before: Position) => void) {
    this.#mode = mode;
    this.#roots = roots;
    this.#onText = onText;
  }

  program(node: ProgramNode): Write {
    const writes = node.body.map((statement) => this.#statement(statement)).filter((write) => write !== undefined);
    const [only] = writes;
    if (only !== undefined && writes.length === 1) return only;
    return (scope, out) => {
      if (!out.work(writes.length)) return;
      for (const write of writes) {
        if (out.fault !== undefined) return;
        write(scope, out);
      }
    };
  }

  #statement(node: StatementNode): Write | undefined {
    switch (node.type) {
      case 'ContentStatement': {
        const { value } = node;
        this.#onText?.(value, this.#position);
        this.#position = afterContent(this.#position, value);
        return value === '' ? undefined : (_scope, out) => out.write(value);
      }
      case 'MustacheStatement':
        return this.#mustache(node);
      case 'BlockStatement':
        return this.#block(node);
    }
  }

  #mustache(node: MustacheNode): Write {
    const value = compileMustacheValue(node, this.#roots, node.loc);
    // Between quotes three braces escape too: a visitor's quote must not end the string and start a field of its own.
    const raw = this.#mode === 'text' || (!node.escaped && this.#position !== 'inside');
    if (raw) return (scope, out) => out.write(plainText(value(scope)));
    const writesJson = node.params.length > 0 && helperName(node.path) === 'json';
    if (this.#position !== 'outside') return (scope, out) => out.write(escapeJson(plainText(value(scope))));
    if (writesJson) return (scope, out) => out.write(plainText(value(scope)));
    return (scope, out) => {
      const result = value(scope);
      out.write(typeof result === 'object' ? plainText(result) : escapeJson(plainText(result)));
    };
  }

  #block(node: BlockNode): Write {
    const name = helperName(node.path);
    const before = this.#position;
    const main = this.#branch(node.program, before);
    const other = this.#branch(node.inverse, before);
    const names = node.program?.blockParams ?? [];
    const params = node.params.map((param) => compileExpression(param, this.#roots, node.loc));
    this.#position = name === 'each' ? afterBranches(before, main.after, other.after) : afterBranches(main.after, other.after);
    if (name === 'if' || name === 'unless') {
      refuseHash(node.hash, ['includeZero'], node.loc);
      const includeZero = this.#option(node.hash?.pairs.find((pair) => pair.key === 'includeZero')?.value, node);
      const [test] = exactly(params, 1, name, node.loc) as [Evaluate];
      const [whenTrue, whenFalse] = name === 'if' ? [main.write, other.write] : [other.write, main.write];
      return (scope, out) => (isFalsy(test(scope), includeZero(scope) === true) ? whenFalse(scope, out) : whenTrue(scope, out));
    }
    refuseHash(node.hash, [], node.loc);
    if (name === 'with') {
      const [subject] = exactly(params, 1, name, node.loc) as [Evaluate];
      return (scope, out) => {
        const value = subject(scope);
        if (isFalsy(value)) other.write(scope, out);
        else main.write(innerScope(scope, value, scope.data, names, [value]), out);
      };
    }
    if (name === 'each') {
      const [subject] = exactly(params, 1, name, node.loc) as [Evaluate];
      return each(subject, names, main.write, other.write);
    }
    throw new TemplateFault(`There is no block "${name ?? ''}": known are if, unless, each, with.`, node.loc);
  }

  #branch(node: ProgramNode | undefined, before: Position): { write: Write; after: Position } {
    this.#position = before;
    const write = node ? this.program(node) : () => undefined;
    return { write, after: this.#position };
  }

  #option(node: ExpressionNode | undefined, block: BlockNode): Evaluate {
    return node ? compileExpression(node, this.#roots, block.loc) : () => false;
  }
}

function each(subject: Evaluate, names: readonly string[], main: Write, other: Write): Write {
  return (scope, out) => {
    const value = subject(scope);
    if (!out.read(Array.isArray(value) ? value.length : 0)) return;
    const keys = Array.isArray(value) ? undefined : typeof value === 'object' && value !== null ? Object.keys(value) : [];
    const items = value as Record<string | number, unknown>;
    const count = keys ? keys.length : (value as unknown[]).length;
    if (count === 0) return other(scope, out);
    for (let i = 0; i < count; i++) {
      if (!out.work(1)) return;
      const key = keys ? keys[i]! : i;
      const item = items[key];
      main(innerScope(scope, item, { index: i, key, first: i === 0, last: i === count - 1 }, names, [item, key]), out);
    }
  };
}
