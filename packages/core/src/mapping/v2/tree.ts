/**
 * Compiles all mappings of an event into one tree of targets with one closure per node, so an object is built once instead of being
 * looked up for every mapping. A mapping to `a.b` is laid over a mapping to `a`, regardless of order. If several mappings have the same
 * target, the last one with a value wins.
 */
import { isObject } from '../../json.ts';
import { formatPath, type Getter } from '../../path/path.ts';
import { readerOf } from '../../path/read.ts';
import type { Steps } from '../../steps.ts';
import { isQuotaSpent, isStepLong } from '../../value-size.ts';
import { ownCopy } from '../copy.ts';
import type { Field } from '../field.ts';
import { copierFor } from './copy-fields.ts';
import type { FieldCopier } from './generated/field-copiers.ts';
import { isEmpty, plainField, type Read, readField } from './leaf.ts';
import { listNode } from './list-node.ts';
import { type InSteps, NEVER_LAID, type Overlay, type Placed, type PlainNode, type TreeContext, type TreeNode } from './node.ts';
import { accessTo, type PropertyAccess } from './property-access.ts';

/** Divided: the targets of an entry may have thousands of parts. */
export function* compileTree(
  fields: readonly Field[],
  context: Pick<TreeContext, 'roots' | 'state' | 'reads' | 'parents' | 'conflict'>,
): Steps<TreeNode> {
  const placed = fields.map((field) => ({ field, target: field.target, paths: undefined }));
  return yield* compileNode(placed, { ...context, in_list: false, laid_over: false, step: { parts: 0 }, compile: compileNode });
}
/** Of targets, between two yields. */
const PARTS_PER_STEP = 200;

function* compileNode(placed: readonly Placed[], context: TreeContext): Steps<TreeNode> {
  context.step.parts += placed.length;
  if (context.step.parts >= PARTS_PER_STEP) {
    context.step.parts = 0;
    yield;
  }
  const own = placed.filter(({ target }) => target.length === 0);
  const keyed = placed.filter(({ target }) => target[0]?.kind === 'key');
  const listed = placed.filter(({ target }) => target[0] && target[0].kind !== 'key');
  if (keyed.length > 0 && listed.length > 0) context.conflict(listed[0]!.field);
  const below = own.length > 0 && !context.laid_over ? { ...context, laid_over: true } : context;
  const children = keyed.length > 0 ? yield* objectNode(keyed, below) : listed.length > 0 ? yield* listNode(listed, below) : undefined;
  if (own.length === 0) return children ?? { build: () => undefined, overlay: NEVER_LAID };
  return children ? valueBelow(readLast(own, context), children) : leafNode(own, context);
}

function leafNode(own: readonly Placed[], context: TreeContext): TreeNode {
  const read = readLast(own, context);
  const [only, ...others] = own;
  return {
    build: read,
    overlay: context.laid_over ? orUnder(read) : NEVER_LAID,
    plain: only && others.length === 0 ? plainNode(only, context) : undefined,
  };
}

function plainNode({ field, paths }: Placed, { parents, roots }: TreeContext): PlainNode | undefined {
  const plain = plainField(field, paths, roots);
  if (!plain) return undefined;
  const name = formatPath(plain.parent);
  let parent = parents.get(name);
  if (!parent) {
    parent = readerOf(plain.parent);
    parents.set(name, parent);
  }
  return { key: plain.key, parent, direct: plain.parent.length === 0 };
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
    inSteps: children.inSteps && layInSteps(read, children.inSteps),
  };
}
function layInSteps(read: Read, lay: InSteps): InSteps {
  const readOver = orUnder(read);
  return (under, event, base) => lay(readOver(under, event, base), event, base);
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
      if (line.required && isEmpty(value)) lacking = line.target;
      else if (value !== undefined) return value;
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

function boxOf(value: unknown): Box | undefined {
  return typeof value === 'object' && value !== null ? (value as Box) : undefined;
}

function* objectNode(placed: readonly Placed[], context: TreeContext): Steps<TreeNode> {
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
  const lines: Line[] = [];
  for (const key of keys) lines.push(lineOf(key, yield* compileNode(byKey.get(key)!, below)));
  const inSteps = context.in_list ? undefined : objectInSteps(lines, below.laid_over);
  if (!below.laid_over) return { build: buildOf(lines, context.in_list), overlay: NEVER_LAID, inSteps };
  const overlay = overlayObject(lines);
  return { build: careful ? onNothing(overlay) : buildOf(lines, context.in_list), overlay, inSteps };
}

function onNothing(overlay: Overlay): Read {
  return (event, base) => overlay(undefined, event, base);
}

function buildOf(lines: readonly Line[], inList: boolean): Read {
  const plain = inList ? lines.flatMap(({ key, node }) => (node.plain?.direct ? [{ from: node.plain.key, to: key }] : [])) : [];
  const copy = plain.length > 1 ? copierFor(plain) : undefined;
  if (!copy) return (event, base) => writeLines(lines, undefined, false, event, base);
  const others = lines.flatMap(({ key, node }) => (node.plain?.direct ? [] : [{ key, build: node.build }]));
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

/** How one key of the target is made: read from `parent`, or built by `node`. */
interface Line {
  key: string;
  node: TreeNode;
  read: PropertyAccess['read'];
  write: PropertyAccess['write'];
  /** Undefined if the value is not just copied. */
  parent: Getter | undefined;
}

function lineOf(key: string, node: TreeNode): Line {
  const { write, read } = accessTo(key);
  return { key, node, write, read: node.plain ? accessTo(node.plain.key).read : read, parent: node.plain?.parent };
}

/** Writes into the value below, which belongs to the payload: every read returns a copy. */
function overlayObject(lines: readonly Line[]): Overlay {
  return (under, event, base) => {
    const below = typeof under === 'object' && under !== null && !Array.isArray(under) ? (under as Box) : undefined;
    return writeLines(lines, below, true, event, base) ?? under;
  };
}

function objectInSteps(lines: readonly Line[], overlaid: boolean): InSteps {
  return function* (under, event, base) {
    let out: Box | undefined = isObject(under) ? under : undefined;
    for (const line of lines) {
      if (isStepLong()) {
        if (isQuotaSpent()) return undefined;
        yield;
      }
      const { inSteps } = line.node;
      if (!inSteps) {
        out = writeLines([line], out, overlaid, event, base);
        continue;
      }
      const before = out && Object.hasOwn(out, line.key) ? out[line.key] : undefined;
      const value = yield* inSteps(before, event, base);
      if (value === undefined || value === before) continue;
      out ??= {};
      line.write(out, value);
    }
    return out ?? under;
  };
}

/**
 * Writes into `below`, or into a new object if there is none and some line has a value. Consecutive keys from the same object read that
 * object once: most mappings list them together, and most events lack some objects.
 */
function writeLines(lines: readonly Line[], below: Box | undefined, overlaid: boolean, event: unknown, base: unknown): Box | undefined {
  let out = below;
  let parent: Getter | undefined;
  let box: Box | undefined;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    let value: unknown;
    if (line.parent !== undefined) {
      if (line.parent !== parent) {
        parent = line.parent;
        box = boxOf(parent(base));
      }
      if (box === undefined) continue;
      value = line.read(box);
      if (typeof value === 'object') value = value === null ? undefined : ownCopy(value);
    } else if (overlaid) {
      const before = below && Object.hasOwn(below, line.key) ? below[line.key] : undefined;
      value = line.node.overlay(before, event, base);
      if (value === before) continue;
    } else value = line.node.build(event, base);
    if (value === undefined) continue;
    if (out === undefined) out = {};
    line.write(out, value);
  }
  return out;
}
