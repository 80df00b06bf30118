/**
 * Compiles all mappings of an event into one tree of targets with one closure per node, so an object is built once instead of being
 * looked up for every mapping. A mapping to `a.b` is laid over a mapping to `a`, regardless of order. If several mappings have the same
 * target, the last one with a value wins.
 */
import { isInherited } from '../../path/read.ts';
import { put } from '../../path/write.ts';
import { ownCopy } from '../copy.ts';
import type { Field } from '../field.ts';
import { copierFor } from './copy-fields.ts';
import type { FieldCopier } from './generated/field-copiers.ts';
import { plainKey, type Read, readField } from './leaf.ts';
import { listNode } from './list-node.ts';
import { NEVER_LAID, type Overlay, type Placed, type TreeContext, type TreeNode } from './node.ts';

export function compileTree(fields: readonly Field[], context: Pick<TreeContext, 'roots' | 'state' | 'reads' | 'conflict'>): Read {
  const placed = fields.map((field) => ({ field, target: field.target, paths: undefined }));
  return compileNode(placed, { ...context, in_list: false, laid_over: false, compile: compileNode }).build;
}

function compileNode(placed: readonly Placed[], context: TreeContext): TreeNode {
  const own = placed.filter(({ target }) => target.length === 0);
  const keyed = placed.filter(({ target }) => target[0]?.kind === 'key');
  const listed = placed.filter(({ target }) => target[0] && target[0].kind !== 'key');
  if (keyed.length > 0 && listed.length > 0) context.conflict(listed[0]!.field);
  const below = own.length > 0 && !context.laid_over ? { ...context, laid_over: true } : context;
  const children = keyed.length > 0 ? objectNode(keyed, below) : listed.length > 0 ? listNode(listed, below) : undefined;
  if (own.length === 0) return children ?? { build: () => undefined, overlay: NEVER_LAID };
  return children ? valueBelow(readLast(own, context), children) : leafNode(own, context);
}

function leafNode(own: readonly Placed[], context: TreeContext): TreeNode {
  const read = readLast(own, context);
  const [only, ...others] = own;
  const plain = only && others.length === 0 ? plainKey(only.field, only.paths, context.roots) : undefined;
  return {
    build: read,
    overlay: context.laid_over ? orUnder(read) : NEVER_LAID,
    plain: plain !== undefined && !isInherited(plain) ? plain : undefined,
  };
}

function orUnder(read: Read): Overlay {
  return (under, event, base) => {
    const value = read(event, base);
    return value === undefined ? under : value;
  };
}

function valueBelow(read: Read, children: TreeNode): TreeNode {
  const lay = children.overlay;
  return {
    build: (event, base) => lay(read(event, base), event, base),
    overlay(under, event, base) {
      const value = read(event, base);
      return lay(value === undefined ? under : value, event, base);
    },
  };
}

function readLast(own: readonly Placed[], context: TreeContext): Read {
  const { state, in_list: inList } = context;
  const lines = own.map(({ field, paths }) => ({
    when: field.when,
    required: field.required && !inList,
    target: field.target_text,
    read: paths === undefined && !inList ? sharedRead(field, context) : readField(field, paths, context.roots, inList),
  }));
  const [only] = lines;
  if (lines.length === 1 && only && !only.when && !only.required) return only.read;
  return (event, base) => {
    let lacking: string | undefined;
    for (let i = lines.length - 1; i >= 0; i--) {
      const line = lines[i]!;
      if (line.when && !line.when(event)) continue;
      const value = line.read(event, base);
      if (value !== undefined) return value;
      if (line.required) lacking = line.target;
    }
    if (lacking !== undefined) state.missing ??= lacking;
    return undefined;
  };
}

function sharedRead(field: Field, { reads, roots }: TreeContext): Read {
  const known = reads.get(field);
  if (known) return known;
  const read = readField(field, undefined, roots, false);
  reads.set(field, read);
  return read;
}

type Box = Record<string, unknown>;
const EMPTY: Box = Object.freeze({});

function objectNode(placed: readonly Placed[], context: TreeContext): TreeNode {
  const byKey = new Map<string, Placed[]>();
  for (const one of placed) {
    const { key } = one.target[0] as { key: string };
    const rest = { ...one, target: one.target.slice(1) };
    const group = byKey.get(key);
    if (group) group.push(rest);
    else byKey.set(key, [rest]);
  }
  const keys = [...byKey.keys()];
  // Assigning to `__proto__` would set the prototype. The overlay path defines the property instead.
  const careful = keys.includes('__proto__');
  const below = careful && !context.laid_over ? { ...context, laid_over: true } : context;
  const nodes = keys.map((key) => compileNode(byKey.get(key)!, below));
  if (!below.laid_over) return { build: buildOf(keys, nodes, context.in_list), overlay: NEVER_LAID };
  const overlay = overlayObject(keys, nodes);
  return { build: careful ? onNothing(overlay) : buildOf(keys, nodes, context.in_list), overlay };
}

function onNothing(overlay: Overlay): Read {
  return (event, base) => overlay(undefined, event, base);
}

function buildOf(keys: readonly string[], nodes: readonly TreeNode[], inList: boolean): Read {
  const plain = nodes.flatMap((node, i) => (node.plain === undefined ? [] : [{ from: node.plain, to: keys[i]! }]));
  const copy = inList && plain.length > 1 ? copierFor(plain) : undefined;
  if (!copy) return buildObject(keys, nodes);
  const others = keys.flatMap((key, i) => (nodes[i]!.plain === undefined ? [{ key, build: nodes[i]!.build }] : []));
  return buildElement(copy, others);
}

function buildElement(copy: FieldCopier, others: readonly { key: string; build: Read }[]): Read {
  return (event, base) => {
    const out: Box = {};
    let count = typeof base === 'object' && base !== null ? copy(base as Box, out) : 0;
    for (let i = 0; i < others.length; i++) {
      const { key, build } = others[i]!;
      const value = build(event, base);
      if (value === undefined) continue;
      out[key] = value;
      count += 1;
    }
    return count === 0 ? undefined : out;
  };
}

function buildObject(keys: readonly string[], nodes: readonly TreeNode[]): Read {
  const plains = nodes.map(({ plain }) => plain);
  const builds = nodes.map(({ build, plain }) => (plain === undefined ? build : undefined));
  const count = keys.length;
  return (event, base) => {
    const from: Box = typeof base === 'object' && base !== null ? (base as Box) : EMPTY;
    let out: Box | undefined;
    for (let i = 0; i < count; i++) {
      const plain = plains[i];
      let value: unknown;
      if (plain === undefined) value = builds[i]!(event, base);
      else {
        value = from[plain];
        if (typeof value === 'object') value = value === null ? undefined : ownCopy(value);
      }
      if (value === undefined) continue;
      if (out === undefined) out = {};
      out[keys[i]!] = value;
    }
    return out;
  };
}

function overlayObject(keys: readonly string[], nodes: readonly TreeNode[]): Overlay {
  return (under, event, base) => {
    const below = typeof under === 'object' && under !== null && !Array.isArray(under) ? (under as Box) : undefined;
    let out: Box | undefined;
    for (let i = 0; i < nodes.length; i++) {
      const key = keys[i]!;
      const before = below && Object.hasOwn(below, key) ? below[key] : undefined;
      const value = nodes[i]!.overlay(before, event, base);
      if (value === undefined || value === before) continue;
      out ??= { ...below };
      put(out, key, value);
    }
    return out ?? under;
  };
}
