import type { Roots } from '../path/path.ts';
import { type CallNode, type ExpressionNode, type HashNode, type Location, type PathNode, TemplateFault } from './ast.ts';
import { member, rootOf, type Scope } from './scope.ts';
import { jsonText } from './text.ts';

/** JSON is written at about this many characters in the time of one statement. */
const CHARACTERS_PER_STEP = 50;

export type Evaluate = (scope: Scope) => unknown;

export function compileExpression(node: ExpressionNode, roots: Roots, loc: Location): Evaluate {
  switch (node.type) {
    case 'PathExpression':
      return compileReference(node, roots, loc);
    case 'SubExpression':
      return compileCall(node, roots, loc);
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral': {
      const { value } = node;
      return () => value;
    }
    case 'NullLiteral':
      return () => null;
    case 'UndefinedLiteral':
      return () => undefined;
  }
}

function compileReference(node: PathNode, roots: Roots, loc: Location): Evaluate {
  const { parts } = node;
  const [first, ...rest] = parts;
  if (node.data) return compileData(first, rest, loc);
  const own = /^(this\b|\.|\.\.\/)/.test(node.original);
  if (first !== undefined && !own && Object.hasOwn(roots, first)) {
    const value = parts.reduce<unknown>(member, roots);
    return () => value;
  }
  const { depth } = node;
  return (scope) => {
    let at: Scope | undefined = scope;
    for (let i = 0; i < depth; i++) at = at?.outer;
    if (!at) return undefined;
    if (first !== undefined && !own && first in at.locals) return rest.reduce(member, at.locals[first]);
    let value = at.value;
    for (const part of parts) value = member(value, part);
    return value;
  };
}

function compileData(name: string | undefined, rest: string[], loc: Location): Evaluate {
  if (name === 'root') return (scope) => rest.reduce(member, rootOf(scope));
  if (name === 'index' || name === 'key' || name === 'first' || name === 'last') return (scope) => scope.data[name];
  throw new TemplateFault(`There is no @${name ?? ''}: known are @index, @key, @first, @last, @root.`, loc);
}

export function helperName(path: ExpressionNode): string | undefined {
  return path.type === 'PathExpression' && !path.data && path.depth === 0 && path.parts.length === 1 ? path.parts[0] : undefined;
}

function compileCall(node: Pick<CallNode, 'path' | 'params' | 'hash'>, roots: Roots, loc: Location): Evaluate {
  const name = helperName(node.path);
  const params = node.params.map((param) => compileExpression(param, roots, loc));
  refuseHash(node.hash, [], loc);
  if (name === 'lookup') {
    const [object, key] = exactly(params, 2, name, loc) as [Evaluate, Evaluate];
    return (scope) => {
      const wanted = key(scope);
      return typeof wanted === 'string' || typeof wanted === 'number' ? member(object(scope), String(wanted)) : undefined;
    };
  }
  if (name === 'json') {
    const [value] = exactly(params, 1, name, loc) as [Evaluate];
    return (scope) => {
      if (scope.out.fault !== undefined) return '';
      const text = jsonText(value(scope));
      scope.out.work(text.length / CHARACTERS_PER_STEP);
      return text;
    };
  }
  throw new TemplateFault(`There is no helper "${name ?? ''}": known are if, unless, each, with, lookup, json.`, loc);
}

export function compileMustacheValue(node: Pick<CallNode, 'path' | 'params' | 'hash'>, roots: Roots, loc: Location): Evaluate {
  const hasArguments = node.params.length > 0 || (node.hash?.pairs.length ?? 0) > 0;
  return hasArguments ? compileCall(node, roots, loc) : compileExpression(node.path, roots, loc);
}

export function exactly(params: Evaluate[], count: number, name: string, loc: Location): Evaluate[] {
  if (params.length !== count) throw new TemplateFault(`${name} takes ${count === 1 ? 'one value' : `${count} values`}.`, loc);
  return params;
}

export function refuseHash(hash: HashNode | undefined, known: readonly string[], loc: Location): void {
  for (const pair of hash?.pairs ?? []) {
    if (!known.includes(pair.key)) throw new TemplateFault(`The option ${pair.key} is not supported here.`, loc);
  }
}
