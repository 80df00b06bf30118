/** The nodes of the Handlebars parser that this subset knows; the parser's own types leave the kinds of statement open. */
export interface PathNode {
  type: 'PathExpression';
  data: boolean;
  depth: number;
  parts: (string | ExpressionNode)[];
  original: string;
}
export interface CallNode {
  type: 'SubExpression';
  path: ExpressionNode;
  params: ExpressionNode[];
  hash?: HashNode;
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
  hash?: HashNode;
  escaped: boolean;
  loc: Location;
}
export interface BlockNode {
  type: 'BlockStatement';
  path: ExpressionNode;
  params: ExpressionNode[];
  hash?: HashNode;
  program?: ProgramNode;
  inverse?: ProgramNode;
  loc: Location;
}
export interface Location {
  start: { line: number; column: number };
}
export type StatementNode =
  | { type: 'ContentStatement'; value: string; loc: Location }
  | { type: 'CommentStatement'; loc: Location }
  | MustacheNode
  | BlockNode
  | { type: 'PartialStatement' | 'PartialBlockStatement' | 'Decorator' | 'DecoratorBlock'; loc: Location };
