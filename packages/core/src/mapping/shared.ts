/**
 * Equal configurations share one compiled mapping while it is referenced, so a template used by a hundred pipelines is compiled once.
 * This is safe because a mapping keeps no state between events.
 */
import { sha256Hex } from '../hash/hash.ts';
import type { Steps } from '../steps.ts';
import { writeJson } from '../transforms/json-stringify.ts';
import type { CompiledMapping, MappingOptions } from './result.ts';

type Working = Extract<CompiledMapping, { ok: true }>;

const MAX_KNOWN = 5_000;
const known = new Map<string, WeakRef<Working>>();

export function* shared(
  sections: Record<string, unknown>,
  options: MappingOptions,
  compile: () => Steps<CompiledMapping>,
): Steps<CompiledMapping> {
  const name = nameOf(sections, options);
  const before = name === undefined ? undefined : known.get(name)?.deref();
  if (before) return before;
  yield;
  const compiled = yield* compile();
  if (compiled.ok && name !== undefined) remember(name, compiled);
  return compiled;
}

/** Parameters differ between pipelines, so they are part of the key only if the mapping refers to them. */
function nameOf(sections: Record<string, unknown>, options: MappingOptions): string | undefined {
  const { where, default_action: defaultAction, parameters } = options;
  const text = writeJson([sections, where, defaultAction]);
  if (text === undefined) return undefined;
  const used = text.includes('parameters') ? writeJson(parameters ?? {}) : '';
  return used === undefined ? undefined : sha256Hex(`${text}\n${used}`);
}

function remember(name: string, compiled: Working): void {
  if (known.size >= MAX_KNOWN) for (const [key, ref] of known) if (!ref.deref()) known.delete(key);
  if (known.size < MAX_KNOWN) known.set(name, new WeakRef(compiled));
}
