export type Token =
  | { kind: 'number'; value: number; at: number }
  | { kind: 'text'; value: string; at: number }
  | { kind: 'path'; value: string; at: number }
  | { kind: 'sign'; value: string; at: number }
  | { kind: 'end'; value: ''; at: number };

export class ExpressionFault extends Error {
  constructor(message: string, at: number) {
    super(`Position ${at + 1}: ${message}`);
  }
}

const SPACE = /\s+/y;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?/y;
const TEXT = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/sy;
const PATH = /[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}\p{N}_$]+|\[\d{1,5}\]|\[\*\]|\["(?:[^"\\]|\\.)*"\]|\['(?:[^'\\]|\\.)*'\])*/uy;
const SIGN = /===|!==|==|!=|<=|>=|&&|\|\||\?\?|[-+*/%<>!?:(),]/y;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    if (take(SPACE)) continue;
    const start = at;
    let match: RegExpExecArray | null;
    if ((match = take(NUMBER))) tokens.push({ kind: 'number', value: Number(match[0]), at: start });
    else if ((match = take(TEXT))) tokens.push({ kind: 'text', value: unescaped(match[1] ?? match[2] ?? ''), at: start });
    else if ((match = take(PATH))) tokens.push({ kind: 'path', value: match[0], at: start });
    else if ((match = take(SIGN))) tokens.push({ kind: 'sign', value: match[0], at: start });
    else throw new ExpressionFault(`"${text[at]}" means nothing here.`, at);
  }
  tokens.push({ kind: 'end', value: '', at: text.length });
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);
}
