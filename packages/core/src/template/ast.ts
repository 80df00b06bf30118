/** The supported part of Handlebars as a tree. */
export interface PathNode {
  type: 'PathExpression';
  data: boolean;
  depth: number;
  parts: string[];
  original: string;
}
export interface CallNode {
  type: 'SubExpression';
  path: ExpressionNode;
  params: ExpressionNode[];
  hash?: HashNode | undefined;
}
export type LiteralNode =
  | { type: 'StringLiteral' | 'NumberLiteral' | 'BooleanLiteral'; value: string | number | boolean }
  | { type: 'UndefinedLiteral' | 'NullLiteral' };
export type ExpressionNode = PathNode | CallNode | LiteralNode;
export interface HashNode {
  pairs: { key: string; value: ExpressionNode }[];
}
export interface ProgramNode {
  body: StatementNode[];
  blockParams?: string[];
}
export interface MustacheNode {
  type: 'MustacheStatement';
  path: ExpressionNode;
  params: ExpressionNode[];
  hash?: HashNode | undefined;
  escaped: boolean;
  loc: Location;
}
export interface BlockNode {
  type: 'BlockStatement';
  path: ExpressionNode;
  params: ExpressionNode[];
  hash?: HashNode | undefined;
  program?: ProgramNode | undefined;
  inverse?: ProgramNode | undefined;
  loc: Location;
}
export interface Location {
  start: { line: number; column: number };
}
export type StatementNode = { type: 'ContentStatement'; value: string; loc: Location } | MustacheNode | BlockNode;

/** A fault in the template's text. Thrown while compiling only; `compileTemplate` turns it into a value. */
export class TemplateFault extends Error {
  constructor(message: string, loc?: Location) {
    super(loc ? `Line ${loc.start.line}, column ${loc.start.column + 1}: ${message}` : message);
  }
}
