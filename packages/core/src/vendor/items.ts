/** Payload → items: the elements that one request definition sends, encoded, with the lane of requests that they may share. */
import { type CanonicalEvent, visitorOf } from '../event/canonical.ts';
import { sha256Hex } from '../hash/hash.ts';
import { isObject, own, put } from '../json.ts';
import { compilePath } from '../path/path.ts';
import { isQuotaSpent, mayWrite, quotaLeft, REQUESTS_TOO_LARGE, weigh } from '../value-size.ts';
import type { Build, Prepared } from './assemble.ts';
import { utf8Length } from './bytes.ts';
import type { ConfigFault, VendorItem } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { pathGuard } from './path-guard.ts';
import type { CompiledRequest, RequestOptions } from './request.ts';
import { itemKey, renderText, type Sources, type Text, textsOf, toText } from './text.ts';
import { compileValue } from './value.ts';

/** Items of this many bytes take some milliseconds to encode. */
const STEP_BYTES = 524_288;
/** One of several items is written in steps above this size. A single one always is. */
const LARGE_ITEM = 65_536;

type Items = ReturnType<CompiledRequest['items']>;
/** An event whose items are being encoded. */
interface Encoding {
  event: CanonicalEvent;
  extra: Sources | undefined;
  lane: Record<string, unknown>;
  shared: Record<string, unknown> | undefined;
  elements: readonly unknown[];
  items: VendorItem[];
}

export function itemsOf(build: Build, options: RequestOptions, faults: ConfigFault[]): Pick<CompiledRequest, 'items' | 'itemsInSteps'> {
  const { definition, body, keyed, url } = build;
  const elementsOf = compileElements(definition, options, faults);
  const laneKeys = definition.lane ?? [];
  const { merge } = definition;
  const fill = textsOf(definition.fill, options.parameters);
  const shape = definition.shape === undefined ? undefined : compileValue(definition.shape, options.parameters);
  const needsSources = keyed.length > 0 || body.head !== undefined;
  const refers = needsSources || fill.length > 0 || shape !== undefined;
  const guard = pathGuard(url);
  const alone = options.batching && definition.batch === undefined;
  const ownLane = `${options.index}`;
  const itemSource = sourceOfItem(definition);
  const describe = compileDescription(definition, options, faults);
  const begin = (payload: unknown, event: CanonicalEvent, extra?: Sources): Encoding => {
    const { lane, rest } = takeOut(payload, laneKeys);
    const shared = merge ? Object.assign({}, ...merge.map((key) => (isObject(payload) ? own(payload, key) : undefined))) : undefined;
    return { event, extra, lane, shared, elements: elementsOf(rest), items: [] };
  };
  /**
   * Encodes the next elements, each of which becomes an item. Undefined: there are more than fit into a step, or `encode` returned
   * undefined for the next one.
   */
  const encodeSome = (
    { event, extra, lane, shared, elements, items }: Encoding,
    stepBytes: number,
    encode: (value: unknown) => string | undefined,
  ): Items | undefined => {
    for (let bytes = 0; items.length < elements.length; ) {
      if (bytes >= stepBytes) return undefined;
      const element = elements[items.length];
      const merged = shared && isObject(element) ? { ...shared, ...element } : element;
      const id = items.length === 0 ? event.event_id : `${event.event_id}-${items.length}`;
      const sources: Sources = refers ? { event, payload: merged, lane, item: itemSource(id, event) } : NO_SOURCES;
      const whole = fill.length > 0 && isObject(merged) ? filled(merged, fill, sources) : merged;
      if (refers) sources.payload = whole;
      const value = shape ? shape.render(extra ? { ...sources, ...extra } : sources) : whole;
      if (shape && weigh(value, quotaLeft()) > quotaLeft()) return TOO_LARGE;
      const rendered = options.render?.(value);
      if (rendered && !rendered.ok) return rendered;
      const text = rendered ? rendered.text : encode(value);
      if (text === undefined) return undefined;
      if (!mayWrite(text.length)) return TOO_LARGE;
      const prepared: Prepared = { text, timestamp: event.timestamp };
      // The vendor batches but this request does not: a lane per item keeps each one alone.
      let key = alone ? `${ownLane} ${event.event_id} ${items.length}` : ownLane;
      if (needsSources) {
        // The head is already text. Only texts that are rendered with the request need the sources later.
        if (keyed.length > 0) prepared.sources = sources;
        const fault = guard?.(sources);
        if (fault) return { ok: false, reason: fault };
        for (const one of keyed) key += `\n${itemKey(one, sources)}`;
        if (body.head) {
          prepared.head = body.head(sources);
          if (!mayWrite(prepared.head.length)) return TOO_LARGE;
          key += `\n${prepared.head}`;
        }
      }
      describe?.(prepared, value);
      const size = utf8Length(text) + 1;
      items.push({ lane: key, payload: prepared, size, event_id: event.event_id });
      bytes += size;
    }
    return isQuotaSpent() ? TOO_LARGE : { ok: true, items };
  };
  return {
    items: (payload, event, extra) => encodeSome(begin(payload, event, extra), Number.POSITIVE_INFINITY, body.encode) ?? TOO_LARGE,
    *itemsInSteps(payload, event) {
      const encoding = begin(payload, event);
      let large: { value: unknown } | undefined;
      let written: string | undefined;
      const encode = (value: unknown): string | undefined => {
        const text = written;
        written = undefined;
        const isSmall = encoding.elements.length > 1 && weigh(value, LARGE_ITEM) <= LARGE_ITEM;
        if (text !== undefined || isSmall || !body.encodeInSteps) return text ?? body.encode(value);
        large = { value };
        return undefined;
      };
      for (;;) {
        const done = encodeSome(encoding, STEP_BYTES, encode);
        if (done) return done;
        if (large && body.encodeInSteps) written = yield* body.encodeInSteps(large.value);
        else yield;
        large = undefined;
      }
    },
  };
}
const TOO_LARGE = Object.freeze({ ok: false, reason: REQUESTS_TOO_LARGE } as const);

/** Hashes are for ids that a vendor limits in length or characters. Few definitions refer to them, and getters cost every item. */
function sourceOfItem(definition: RequestDefinition): (id: string, event: CanonicalEvent) => Record<string, string> {
  if (!JSON.stringify(definition).includes('_sha256')) return (id, event) => ({ id, visitor: visitorOf(event) });
  return (id, event) => {
    const visitor = visitorOf(event);
    return {
      id,
      visitor,
      get id_sha256() {
        return sha256Hex(id);
      },
      get visitor_sha256() {
        return sha256Hex(visitor);
      },
    };
  };
}

/** The elements of the payload that become items. */
function compileElements(
  { items }: RequestDefinition,
  options: RequestOptions,
  faults: ConfigFault[],
): (payload: unknown) => readonly unknown[] {
  if (items === undefined) return (payload) => (payload === undefined || payload === null ? [] : [payload]);
  const paths = typeof items === 'string' ? [items] : items;
  const others = paths.filter((path) => path !== '$').map((path) => path.split(/[.[]/, 1)[0] ?? '');
  const getters = paths.map((path) => (path === '$' ? without(others) : pathOf(path, `${options.where}.items`, faults)));
  const listOf = (found: unknown): readonly unknown[] =>
    Array.isArray(found) ? found : found === undefined || found === null ? NOTHING : [found];
  const [first, ...more] = getters;
  return (payload) => {
    let elements = first ? listOf(first(payload)) : NOTHING;
    for (const get of more) {
      const found = listOf(get(payload));
      // Most events have elements at one of the paths only.
      if (found.length > 0) elements = elements.length === 0 ? found : [...elements, ...found];
    }
    return elements;
  };
}
const NOTHING: readonly unknown[] = Object.freeze([]);

/** The payload without some of its keys; nothing if no key is left. */
function without(keys: readonly string[]): (payload: unknown) => unknown {
  return (payload) => {
    if (!isObject(payload)) return payload;
    if (!keys.some((key) => Object.hasOwn(payload, key))) return payload;
    const { rest } = takeOut(payload, keys);
    return isObject(rest) && Object.keys(rest).length > 0 ? rest : undefined;
  };
}

function pathOf(path: string, where: string, faults: ConfigFault[]): (root: unknown) => unknown {
  const compiled = compilePath(path);
  if (compiled.ok) return compiled.get;
  faults.push({ field: where, message: compiled.message });
  return () => undefined;
}

/** Adds what `read` and `combine` need to know about an item. */
function compileDescription(
  { item_keys: keys, batch }: RequestDefinition,
  options: RequestOptions,
  faults: ConfigFault[],
): ((prepared: Prepared, value: unknown) => void) | undefined {
  const combine = batch?.combine;
  if (!keys && !combine) return undefined;
  const keyGetters = (keys ?? []).map((path) => pathOf(path, `${options.where}.item_keys`, faults));
  const by = combine ? pathOf(combine.by, `${options.where}.batch.combine.by`, faults) : undefined;
  return (prepared, value) => {
    if (keys) {
      const found: string[] = [];
      for (const get of keyGetters) {
        const key = toText(get(value));
        if (key !== '') found.push(key);
      }
      prepared.keys = found;
    }
    const same = toText(by?.(value));
    if (same !== '') prepared.combine = { by: same, value };
  };
}

export function verbatimOf({ definition, body, keyed, uses }: Build, options: RequestOptions): CompiledRequest['verbatim'] {
  const { when, items, lane, merge, fill, shape, index_field, item_keys, batch } = definition;
  if (!body.json || options.render || keyed.length > 0 || uses.has('date')) return undefined;
  if (when !== undefined || items !== undefined || lane?.length || merge || fill) return undefined;
  if (shape !== undefined || index_field || item_keys || batch?.combine) return undefined;
  // A request that takes one item although the vendor batches needs a lane per item. That path is not worth a second implementation.
  if (options.batching && definition.batch === undefined) return undefined;
  const own = `${options.index}`;
  return ({ json, event_id }) => {
    const prepared: Prepared = { text: json, timestamp: undefined };
    return { lane: own, payload: prepared, size: json.length + 1, event_id };
  };
}

function filled(item: Record<string, unknown>, fill: readonly [string, Text][], sources: Sources): Record<string, unknown> {
  const out = { ...item };
  for (const [name, text] of fill) put(out, name, renderText(text, sources));
  return out;
}

const NO_LANE = Object.freeze({});
const NO_SOURCES: Sources = Object.freeze({});

/** The lane's keys, and the payload without them. The argument is not changed: it may be the event itself. */
function takeOut(payload: unknown, keys: readonly string[]): { lane: Record<string, unknown>; rest: unknown } {
  if (keys.length === 0 || !isObject(payload)) return { lane: NO_LANE, rest: payload };
  const rest: Record<string, unknown> = {};
  const lane: Record<string, unknown> = {};
  // Copied key by key: an object from which a key was deleted is slow to write as JSON.
  for (const key of Object.keys(payload)) put(keys.includes(key) ? lane : rest, key, payload[key]);
  return { lane, rest };
}
