/** One request definition, compiled: payload → items, items → request. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type CanonicalEvent, visitorOf } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import { isObject, own } from '../json.ts';
import { compilePath } from '../path/path.ts';
import { put } from '../path/write.ts';
import { compileAnswers, type ReadAnswer } from './answers.ts';
import { assemble, type Build, type Head, type Prepared, usesOf } from './assemble.ts';
import { type CompiledAuth, compileAuth, type KeyOperations } from './auth.ts';
import { type CompiledBody, compileBody } from './body.ts';
import { utf8, utf8Length } from './bytes.ts';
import { combineItems, expandVerdict } from './combine.ts';
import type { ClientCertificate, CompiledVendor, ConfigFault, RequestContext, VendorItem, VendorRequest } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { headerNameFault, headerValueFault, setHeader, unmasked } from './header-rules.ts';
import { pathGuard } from './path-guard.ts';
import { compileText, itemKey, renderText, type Sources, type Text, toText } from './text.ts';
import { type UrlRules, urlFault } from './url-rules.ts';
import { compileValue } from './value.ts';
import { USER_AGENT } from './version.ts';

export interface RequestOptions extends UrlRules {
  parameters: Record<string, unknown>;
  redirect(url: string): string;
  gzip?: (data: Uint8Array) => Uint8Array;
  scrub(text: string): string;
  /** Renders the payload with the user's template. Absent: the body kind encodes it. */
  render?: (payload: unknown) => { ok: true; text: string } | { ok: false; reason: string };
  /** Signs with the customer's private keys; the host provides it. */
  keys?: KeyOperations;
  /** Collects the client certificates in use, for warnings before they expire. */
  certificates?: ClientCertificate[];
  /** Whether the vendor batches at all. */
  batching: boolean;
  where: string;
  /** Path of the URL in the config. */
  url_at: string;
  index: number;
}
export interface CompiledRequest {
  fits(root: unknown): boolean;
  /** `extra`: further sources that `shape` may refer to. */
  items(payload: unknown, event: CanonicalEvent, extra?: Sources): { ok: true; items: VendorItem[] } | { ok: false; reason: string };
  /** Builds the item from the event's JSON without parsing it; undefined if the request needs more than that. */
  verbatim: CompiledVendor['verbatim'];
  request(items: VendorItem[], context: RequestContext): VendorRequest;
  read: ReadAnswer;
  auth: CompiledAuth;
}

export function compileRequest(definition: RequestDefinition, options: RequestOptions, faults: ConfigFault[]): CompiledRequest {
  const { parameters, where } = options;
  const auth = compileAuth(
    definition.auth,
    { parameters, redirect: options.redirect, where: `${where}.auth`, ...(options.keys ? { keys: options.keys } : {}) },
    faults,
  );
  if (auth.tls) options.certificates?.push(auth.tls);
  if (auth.token) checkUrl(auth.token.token_url, `${where}.auth.token_url`, options, faults);
  const url = compileText(definition.url, parameters, { url: true });
  const redirected = { ...url, parts: redirectParts(url.parts, options.redirect) };
  if (redirected.constant !== undefined) redirected.constant = redirected.parts.join('');
  checkOrigin(redirected, options.url_at, options, faults);
  const body = compileBody(definition.body, parameters);
  const head = compileHead(definition, body, auth, options, faults);
  const queries = [...auth.query.map(([name, value]) => [name, compileText(value, {})] as const), ...textsOf(definition.query, parameters)];
  const texts = [redirected, ...head.dynamic.map(([, text]) => text), ...queries.map(([, text]) => text), ...body.texts];
  const method = compileText(definition.method, parameters).constant ?? 'POST';
  const build: Build = {
    method,
    definition,
    options,
    url: redirected,
    queries,
    body,
    head,
    auth,
    keyed: texts.filter((text) => text.per_item),
    uses: usesOf(texts),
    listed: options.batching && definition.batch !== undefined,
  };
  return {
    fits: conditionOf(definition, where, faults),
    items: itemsOf(build, options, faults),
    verbatim: verbatimOf(build, options),
    auth,
    ...sending(build, definition, options, faults),
  };
}

function sending(
  build: Build,
  definition: RequestDefinition,
  options: RequestOptions,
  faults: ConfigFault[],
): Pick<CompiledRequest, 'request' | 'read'> {
  const read = compileAnswers(
    definition.answers ?? [],
    { where: `${options.where}.answers`, has_token: build.auth.token !== undefined, scrub: options.scrub },
    faults,
  );
  const combine = definition.batch?.combine;
  if (!combine) return { request: (items, context) => assemble(build, items, context), read };
  return {
    request: (items, context) => assemble(build, combineItems(items, combine.how, build.body.encode).sent, context),
    read: (reply, items, context) => {
      const { sent, position } = combineItems(items, combine.how, build.body.encode);
      return expandVerdict(read(reply, sent, context), position);
    },
  };
}

function conditionOf(definition: RequestDefinition, where: string, faults: ConfigFault[]): (root: unknown) => boolean {
  if (definition.when === undefined) return () => true;
  const condition = compileCondition(definition.when, `${where}.when`);
  if (condition.ok) return condition.test;
  faults.push(...condition.faults);
  return () => false;
}

/** The endpoint also replaces a scheme and host that came from a config field. */
function redirectParts(parts: Text['parts'], redirect: (url: string) => string): Text['parts'] {
  const [first, ...rest] = parts;
  return typeof first === 'string' ? [redirect(first), ...rest] : parts;
}

/** Scheme and host must come before the first reference to an event: no visitor chooses where a request goes. */
function checkOrigin(url: Text, where: string, rules: UrlRules, faults: ConfigFault[]): void {
  const first = typeof url.parts[0] === 'string' ? url.parts[0] : '';
  if (url.constant === undefined && !/^https?:\/\/[^/?#]+[/?#]/i.test(first)) {
    faults.push({ field: where, message: 'scheme and host must not depend on the event' });
    return;
  }
  checkUrl(first, where, rules, faults);
}

function checkUrl(text: string, where: string, rules: UrlRules, faults: ConfigFault[]): void {
  const fault = urlFault(text, rules);
  if (fault) faults.push({ field: where, message: fault });
}

function textsOf(texts: Record<string, string> | undefined, parameters: Record<string, unknown>): [string, Text][] {
  return Object.entries(texts ?? {})
    .map(([name, text]): [string, Text] => [name, compileText(text, parameters)])
    .filter(([, text]) => text.constant !== '');
}

/** Later headers win: the user's, the definition's, auth, then the user agent. */
function compileHead(
  definition: RequestDefinition,
  body: CompiledBody,
  auth: CompiledAuth,
  options: RequestOptions,
  faults: ConfigFault[],
): Head {
  const fixed: Record<string, string> = {};
  const dynamic: [string, Text][] = [];
  if (body.content_type) fixed['Content-Type'] = body.content_type;
  const user = definition.headers_field ? options.parameters[definition.headers_field] : undefined;
  if (isObject(user)) for (const [name, value] of Object.entries(user)) setHeader(fixed, name, String(value));
  for (const [name, text] of textsOf(definition.headers, options.parameters)) {
    const fault = headerNameFault(name) ?? (text.constant === undefined ? undefined : headerValueFault(text.constant));
    if (fault) faults.push({ field: `${options.where}.headers.${name}`, message: fault });
    else if (text.constant !== undefined) setHeader(fixed, name, unmasked(text.constant));
    else dynamic.push([name, text]);
  }
  for (const [name, value] of Object.entries(auth.headers)) setHeader(fixed, name, value);
  setHeader(fixed, 'User-Agent', USER_AGENT);
  return { fixed, dynamic };
}

function itemsOf(build: Build, options: RequestOptions, faults: ConfigFault[]): CompiledRequest['items'] {
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
  const describe = compileDescription(definition, options, faults);
  return (payload, event, extra) => {
    const { lane, rest } = takeOut(payload, laneKeys);
    const shared = merge ? Object.assign({}, ...merge.map((key) => (isObject(payload) ? own(payload, key) : undefined))) : undefined;
    const items: VendorItem[] = [];
    for (const element of elementsOf(rest)) {
      const merged = shared && isObject(element) ? { ...shared, ...element } : element;
      const id = items.length === 0 ? event.event_id : `${event.event_id}-${items.length}`;
      const sources: Sources = refers ? { event, payload: merged, lane, item: itemSource(id, event) } : NO_SOURCES;
      const whole = fill.length > 0 && isObject(merged) ? filled(merged, fill, sources) : merged;
      if (refers) sources.payload = whole;
      const value = shape ? shape.render(extra ? { ...sources, ...extra } : sources) : whole;
      const rendered = options.render?.(value);
      if (rendered && !rendered.ok) return rendered;
      const text = rendered ? rendered.text : body.encode(value);
      const prepared: Prepared = { text, timestamp: event.timestamp };
      // The vendor batches but this request does not: a lane per item keeps each one alone.
      let key = alone ? `${options.index} ${event.event_id} ${items.length}` : `${options.index}`;
      if (needsSources) {
        // The head is already text. Only texts that are rendered with the request need the sources later.
        if (keyed.length > 0) prepared.sources = sources;
        const fault = guard?.(sources);
        if (fault) return { ok: false, reason: fault };
        for (const one of keyed) key += `\n${itemKey(one, sources)}`;
        if (body.head) {
          prepared.head = body.head(sources);
          key += `\n${prepared.head}`;
        }
      }
      describe?.(prepared, value);
      items.push({ lane: key, payload: prepared, size: utf8Length(text) + 1, event_id: event.event_id });
    }
    return { ok: true, items };
  };
}

/** Hashes are computed when a text refers to them. For ids that a vendor limits in length or characters. */
function itemSource(id: string, event: CanonicalEvent) {
  const visitor = visitorOf(event);
  return {
    id,
    visitor,
    get id_sha256() {
      return bytesToHex(sha256(utf8(id)));
    },
    get visitor_sha256() {
      return bytesToHex(sha256(utf8(visitor)));
    },
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
  const [only, ...more] = getters;
  if (only !== undefined && more.length === 0) return (payload) => listOf(only(payload));
  return (payload) => getters.flatMap((get) => listOf(get(payload)));
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
    if (keys) prepared.keys = keyGetters.map((get) => toText(get(value))).filter((key) => key !== '');
    const same = toText(by?.(value));
    if (same !== '') prepared.combine = { by: same, value };
  };
}

function verbatimOf({ definition, body, keyed, uses }: Build, options: RequestOptions): CompiledRequest['verbatim'] {
  const { when, items, lane, merge, fill, shape, index_field, item_keys, batch } = definition;
  if (!body.json || options.render || keyed.length > 0 || uses.has('date')) return undefined;
  if (when !== undefined || items !== undefined || lane?.length || merge || fill) return undefined;
  if (shape !== undefined || index_field || item_keys || batch?.combine) return undefined;
  // A request that takes one item although the vendor batches needs a lane per item. That path is not worth a second implementation.
  if (options.batching && definition.batch === undefined) return undefined;
  const own = `${options.index}`;
  return (json, event_id) => {
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
