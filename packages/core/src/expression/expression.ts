/**
 * The language of `compute`: literals, paths, arithmetic, comparisons, `&& || ! ??`, `? :`, and a short list of functions. Parsed once
 * into closures. Evaluation never throws; an expression without a sensible value is `undefined`.
 */
import { compilePath } from '../path/path.ts';
import { asNumber } from '../transforms/values.ts';
import { mayRead, mayReadList } from '../value-size.ts';
import { FUNCTIONS } from './functions.ts';
import { type Evaluate, LEVELS } from './operators.ts';
import { ExpressionFault, type Token, tokenize } from './tokens.ts';

export type CompiledExpression = { ok: true; evaluate(event: unknown): unknown } | { ok: false; message: string };

const MAX_LENGTH = 2_000;
const MAX_DEPTH = 40;
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
]);

export function compileExpression(text: unknown): CompiledExpression {
  if (typeof text !== 'string' || text.trim() === '') return { ok: false, message: 'An expression is needed.' };
  if (text.length > MAX_LENGTH) return { ok: false, message: `An expression may be at most ${MAX_LENGTH} characters long.` };
  try {
    const parser = new Parser(tokenize(text));
    const evaluate = parser.whole();
    return {
      ok: true,
      evaluate(event) {
        const value = evaluate(event);
        return value === null || (typeof value === 'number' && !Number.isFinite(value)) ? undefined : value;
      },
    };
  } catch (error) {
    if (error instanceof ExpressionFault) return { ok: false, message: error.message };
    throw error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Evaluate {
    const value = this.#choice();
    const token = this.#peek();
    if (token.kind !== 'end') throw new ExpressionFault(`"${token.value}" was not expected here.`, token.at);
    return value;
  }

  #choice(): Evaluate {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new ExpressionFault(`an expression may be nested at most ${MAX_DEPTH} deep.`, this.#peek().at);
    const test = this.#level(0);
    let result = test;
    if (this.#takeSign('?')) {
      const yes = this.#choice();
      this.#expect(':');
      const no = this.#choice();
      result = (event) => (test(event) ? yes(event) : no(event));
    }
    this.#depth -= 1;
    return result;
  }

  #level(level: number): Evaluate {
    const operators = LEVELS[level];
    if (!operators) return this.#unary();
    let left = this.#level(level + 1);
    for (;;) {
      const token = this.#peek();
      const operator = token.kind === 'sign' && Object.hasOwn(operators, token.value) ? operators[token.value] : undefined;
      if (operator === undefined) return left;
      this.#next += 1;
      left = operator(left, this.#level(level + 1));
    }
  }

  #unary(): Evaluate {
    // Consecutive signs are counted, not nested, so `!!!!…` cannot overflow the stack.
    const signs: string[] = [];
    for (let token = this.#peek(); token.kind === 'sign' && (token.value === '!' || token.value === '-'); token = this.#peek()) {
      signs.push(token.value);
      this.#next += 1;
      if (signs.length > MAX_DEPTH) throw new ExpressionFault('there are too many signs in a row.', token.at);
    }
    return signs.reduceRight<Evaluate>((value, sign) => (sign === '!' ? (event) => !value(event) : negative(value)), this.#primary());
  }

  #primary(): Evaluate {
    const token = this.#peek();
    this.#next += 1;
    if (token.kind === 'number' || token.kind === 'text') {
      const { value } = token;
      return () => value;
    }
    if (token.kind === 'path') return this.#takeSign('(') ? this.#call(token) : name(token);
    if (token.value === '(') {
      const value = this.#choice();
      this.#expect(')');
      return value;
    }
    throw new ExpressionFault(
      token.kind === 'end' ? 'something is missing at the end.' : `"${token.value}" was not expected here.`,
      token.at,
    );
  }

  #call(token: Token): Evaluate {
    const known = Object.hasOwn(FUNCTIONS, token.value) ? FUNCTIONS[String(token.value)] : undefined;
    if (!known) throw new ExpressionFault(`there is no function ${token.value}; known are ${Object.keys(FUNCTIONS).join(', ')}.`, token.at);
    const args: Evaluate[] = [];
    if (!this.#takeSign(')')) {
      do args.push(this.#choice());
      while (this.#takeSign(','));
      this.#expect(')');
    }
    if (args.length < known.min || args.length > known.max) throw new ExpressionFault(`the function is ${known.summary}.`, token.at);
    if (!known.reads_all) return (event) => known.call(args.map((arg) => arg(event)));
    return (event) => {
      const values = args.map((arg) => arg(event));
      if (!values.every(mayReadAll)) return undefined;
      const result = known.call(values);
      // Joined of the elements of a list.
      return typeof result !== 'string' || mayRead(result.length) ? result : undefined;
    };
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)]!;
  }

  #takeSign(sign: string): boolean {
    const token = this.#peek();
    if (token.kind !== 'sign' || token.value !== sign) return false;
    this.#next += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takeSign(sign)) throw new ExpressionFault(`"${sign}" was expected here.`, this.#peek().at);
  }
}

function mayReadAll(value: unknown): boolean {
  if (typeof value === 'string') return mayRead(value.length);
  return !Array.isArray(value) || mayReadList(value);
}

function name(token: Token): Evaluate {
  const text = String(token.value);
  if (WORDS.has(text)) {
    const value = WORDS.get(text);
    return () => value;
  }
  const path = compilePath(text);
  if (!path.ok) throw new ExpressionFault(path.message, token.at);
  return path.get;
}

function negative(value: Evaluate): Evaluate {
  return (event) => {
    const number = asNumber(value(event));
    return number === undefined ? undefined : 0 - number;
  };
}
