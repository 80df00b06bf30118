/**
 * All mappings of an event as one tree of targets, each node one closure: an object is built once with all of its fields instead of
 * being found again for every line. A mapping to `a.b` is laid over a mapping to `a`, whatever their order; of several mappings to
 * the same target the last one that has a value counts.
 */
import { isInherited } from '../../path/read.ts';
import { put } from '../../path/write.ts';
import { ownCopy } from '../copy.ts';
import type { Field } from '../field.ts';
import { plainKey, type Read, readField } from './leaf.ts';
import { listNode } from './list-node.ts';
import type { Overlay, Placed, TreeContext, TreeNode } from './node.ts';

export function compileTree(fields: readonly Field[], context: Omit<TreeContext, 'in_list' | 'compile'>): Read {
  const placed = fields.map((field) => ({ field, target: field.target, paths: undefined }));
  return compileNode(placed, { ...context, in_list: false, compile: compileNode }).build;
}

function compileNode(placed: readonly Placed[], context: TreeContext): TreeNode {
  const own = placed.filter(({ target }) => target.length === 0);
  const keyed = placed.filter(({ target }) => target[0]?.kind === 'key');
  const listed = placed.filter(({ target }) => target[0] && target[0].kind !== 'key');
  if (keyed.length > 0 && listed.length > 0) context.conflict(listed[0]!.field);
  const children = keyed.length > 0 ? objectNode(keyed, context) : listed.length > 0 ? listNode(listed, context) : undefined;
  if (own.length === 0) return children ?? { build: () => undefined, overlay: (under) => under };
  const read = readLast(own, context);
  if (!children) {
    const plain = own.length === 1 ? plainKey(own[0]!.field, own[0]!.paths, context.roots) : undefined;
    const overlay: Overlay = (under, event, base) => {
      const value = read(event, base);
      return value === undefined ? under : value;
    };
    return { build: read, overlay, plain: plain !== undefined && !isInherited(plain) ? plain : undefined };
  }
  return {
    build: (event, base) => children.overlay(read(event, base), event, base),
    overlay(under, event, base) {
      const value = read(event, base);
      return children.overlay(value === undefined ? under : value, event, base);
    },
  };
}

function readLast(own: readonly Placed[], context: TreeContext): Read {
  const { state, in_list: inList } = context;
  const lines = own.map(({ field, paths }) => ({
    when: field.when,
    required: field.required && !inList,
    target: field.target_text,
    read: readField(field, paths, context.roots, inList),
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
  const nodes = keys.map((key) => compileNode(byKey.get(key)!, context));
  return {
    build: keys.includes('__proto__') ? buildCarefully(keys, nodes) : buildObject(keys, nodes),
    overlay: overlayObject(keys, nodes),
  };
}

function buildObject(keys: readonly string[], nodes: readonly TreeNode[]): Read {
  const builds = nodes.map(({ build }) => build);
  const plains = nodes.map(({ plain }) => plain);
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

function buildCarefully(keys: readonly string[], nodes: readonly TreeNode[]): Read {
  const overlay = overlayObject(keys, nodes);
  return (event, base) => overlay(undefined, event, base);
}

function overlayObject(keys: readonly string[], nodes: readonly TreeNode[]): Overlay {
  return (under, event, base) => {
    const below = typeof under === 'object' && under !== null && !Array.isArray(under) ? (under as Box) : undefined;
    let out: Box | undefined;
    for (const [i, node] of nodes.entries()) {
      const key = keys[i]!;
      const before = below && Object.hasOwn(below, key) ? below[key] : undefined;
      const value = node.overlay(before, event, base);
      if (value === undefined || value === before) continue;
      out ??= { ...below };
      put(out, key, value);
    }
    return out ?? under;
  };
}
