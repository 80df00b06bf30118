/** Finds every import in a source file: static, dynamic, type-only, re-exported, and worker entries named by `new URL`. */
import { parseAst } from 'vite';

export interface FoundImport {
  /** Undefined for a dynamic import whose specifier is computed. */
  specifier: string | undefined;
  line: number;
  /** Evaluates the other module before this one. Type-only imports are erased; the others load a module later. */
  loadsFirst: boolean;
}
interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

export function importsOf(path: string, text: string): FoundImport[] {
  const found: FoundImport[] = [];
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), (node) => {
    const source = sourceOf(node);
    if (source === undefined) return;
    const specifier = source.type === 'Literal' && typeof source.value === 'string' ? source.value : undefined;
    found.push({ specifier, line: text.slice(0, node.start).split('\n').length, loadsFirst: loadsFirst(node) });
  });
  return found;
}

const STATIC = new Set(['ImportDeclaration', 'ExportAllDeclaration', 'ExportNamedDeclaration']);
/** `import { type A }` still loads the module; only `import type` does not. */
function loadsFirst({ type, importKind, exportKind }: Node): boolean {
  return STATIC.has(type) && importKind !== 'type' && exportKind !== 'type';
}

/** The node that names the imported module, if this node imports one. */
function sourceOf(node: Node): Node | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
    case 'TSExternalModuleReference':
      return asNode(node.source ?? node.expression);
    case 'NewExpression':
    case 'CallExpression':
      return callSource(node);
    default:
      return undefined;
  }
}

/** `new URL('./thread.ts', import.meta.url)`, `import.meta.resolve('…')` and `require('…')` load a module too. */
function callSource(node: Node): Node | undefined {
  const callee = asNode(node.callee);
  const [first, second] = (node.arguments as unknown[]).map(asNode);
  if (typeof first?.value !== 'string') return undefined;
  const name = callee?.type === 'Identifier' ? callee.name : undefined;
  const isEntry = node.type === 'NewExpression' && name === 'URL' && isMeta(second, 'url') && /\.tsx?$/.test(first.value);
  return name === 'require' || isMeta(callee, 'resolve') || isEntry ? first : undefined;
}
function isMeta(node: Node | undefined, property: string): boolean {
  return node?.type === 'MemberExpression' && asNode(node.object)?.type === 'MetaProperty' && asNode(node.property)?.name === property;
}

function visit(value: unknown, act: (node: Node) => void): void {
  if (Array.isArray(value)) for (const entry of value) visit(entry, act);
  const node = asNode(value);
  if (node === undefined) return;
  act(node);
  for (const field in node) if (typeof node[field] === 'object') visit(node[field], act);
}
function asNode(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;
}
