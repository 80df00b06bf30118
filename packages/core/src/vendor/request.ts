/** One of a vendor's requests, compiled: from a payload to items, from items to a request. */
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import { isObject, own } from '../json.ts';
import { compilePath } from '../path/path.ts';
import { compileAnswers, type ReadAnswer } from './answers.ts';
import { assemble, type Build, type Head, type Prepared, usesOf } from './assemble.ts';
import { type CompiledAuth, compileAuth } from './auth.ts';
import { type CompiledBody, compileBody } from './body.ts';
import { utf8Length } from './bytes.ts';
import type { CompiledVendor, ConfigFault, RequestContext, VendorItem, VendorRequest } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { headerNameFault, headerValueFault, setHeader, unmasked } from './header-rules.ts';
import { pathGuard } from './path-guard.ts';
import { compileText, itemKey, renderText, type Sources, type Text } from './text.ts';
import { type UrlRules, urlFault } from './url-rules.ts';
import { USER_AGENT } from './version.ts';

export interface RequestOptions extends UrlRules {
  parameters: Record<string, unknown>;
  redirect(url: string): string;
  gzip?: (data: Uint8Array) => Uint8Array;
  scrub(text: string): string;
  /** The payload as text, where a template makes it; undefined leaves it to the body kind. */
  render?: (payload: unknown) => { ok: true; text: string } | { ok: false; reason: string };
  /** Whether the vendor collects items at all. */
  batching: boolean;
  where: string;
  /** Where the URL is written in the config. */
  url_at: string;
  index: number;
}
export interface CompiledRequest {
  fits(root: unknown): boolean;
  items(payload: unknown, event: CanonicalEvent): { ok: true; items: VendorItem[] } | { ok: false; reason: string };
  /** The item of an event whose payload is its own JSON; undefined where it takes more than that. */
  verbatim: CompiledVendor['verbatim'];
  request(items: VendorItem[], context: RequestContext): VendorRequest;
  read: ReadAnswer;
  auth: CompiledAuth;
}

export function compileRequest(definition: RequestDefinition, options: RequestOptions, faults: ConfigFault[]): CompiledRequest {
  const { parameters, where } = options;
  const auth = compileAuth(definition.auth, { parameters, redirect: options.redirect, where: `${where}.auth` }, faults);
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
    request: (items, context) => assemble(build, items, context),
    read: compileAnswers(
      definition.answers ?? [],
      { where: `${where}.answers`, has_token: auth.token !== undefined, scrub: options.scrub },
      faults,
    ),
    auth,
  };
}

function conditionOf(definition: RequestDefinition, where: string, faults: ConfigFault[]): (root: unknown) => boolean {
  if (definition.when === undefined) return () => true;
  const condition = compileCondition(definition.when, `${where}.when`);
  if (condition.ok) return condition.test;
  faults.push(...condition.faults);
  return () => false;
}

/** The endpoint replaces scheme and host also where they came out of a config field. */
function redirectParts(parts: Text['parts'], redirect: (url: string) => string): Text['parts'] {
  const [first, ...rest] = parts;
  return typeof first === 'string' ? [redirect(first), ...rest] : parts;
}

/** Scheme and host must stand before the first reference to an event: no visitor chooses where a request goes. */
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

/** Later ones win: the definition's, the user's, auth, and what every request of ours carries. */
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

function itemsOf({ definition, body, keyed, url }: Build, options: RequestOptions, faults: ConfigFault[]): CompiledRequest['items'] {
  const path = definition.items === undefined ? undefined : compilePath(definition.items);
  if (path && !path.ok) faults.push({ field: `${options.where}.items`, message: path.message });
  const get = path?.ok ? path.get : undefined;
  const laneKeys = definition.lane ?? [];
  const { merge } = definition;
  const fill = textsOf(definition.fill, options.parameters);
  const needsSources = keyed.length > 0;
  const guard = pathGuard(url);
  const alone = options.batching && definition.batch === undefined;
  return (payload, event) => {
    const { lane, rest } = takeOut(payload, laneKeys);
    const shared = merge ? Object.assign({}, ...merge.map((key) => (isObject(payload) ? own(payload, key) : undefined))) : undefined;
    const found = get ? get(rest) : rest;
    const elements = get && Array.isArray(found) ? found : found === undefined || found === null ? [] : [found];
    const items: VendorItem[] = [];
    for (const element of elements) {
      const merged = shared && isObject(element) ? { ...shared, ...element } : element;
      const value = fill.length > 0 && isObject(merged) ? filled(merged, fill, { event, payload: merged, lane }) : merged;
      const rendered = options.render?.(value);
      if (rendered && !rendered.ok) return rendered;
      const text = rendered ? rendered.text : body.encode(value);
      const prepared: Prepared = { text, timestamp: event.timestamp };
      // Where the vendor collects items but this request takes one, a lane of its own keeps each item alone.
      let key = alone ? `${options.index} ${event.event_id} ${items.length}` : `${options.index}`;
      if (needsSources) {
        prepared.sources = { event, payload: value, lane };
        const fault = guard?.(prepared.sources);
        if (fault) return { ok: false, reason: fault };
        for (const one of keyed) key += `\n${itemKey(one, prepared.sources)}`;
      }
      items.push({ lane: key, payload: prepared, size: utf8Length(text) + 1, event_id: event.event_id });
    }
    return { ok: true, items };
  };
}

function verbatimOf({ definition, body, keyed, uses }: Build, options: RequestOptions): CompiledRequest['verbatim'] {
  const { when, items, lane, merge, fill } = definition;
  if (!body.json || options.render || keyed.length > 0 || uses.has('date')) return undefined;
  if (when !== undefined || items !== undefined || lane?.length || merge || fill) return undefined;
  // Those that collect items and take one alone have a lane for each; it is not worth a second way here.
  if (options.batching && definition.batch === undefined) return undefined;
  const own = `${options.index}`;
  return (json, event_id) => {
    const prepared: Prepared = { text: json, timestamp: undefined };
    return { lane: own, payload: prepared, size: json.length + 1, event_id };
  };
}

function filled(item: Record<string, unknown>, fill: readonly [string, Text][], sources: Sources): Record<string, unknown> {
  return { ...item, ...Object.fromEntries(fill.map(([name, text]) => [name, renderText(text, sources)])) };
}

const NO_LANE = Object.freeze({});

/** The lane's keys, and the payload without them. What was handed in stays as it is: it may be the event itself. */
function takeOut(payload: unknown, keys: readonly string[]): { lane: Record<string, unknown>; rest: unknown } {
  if (keys.length === 0 || !isObject(payload)) return { lane: NO_LANE, rest: payload };
  const rest = { ...payload };
  const lane: Record<string, unknown> = {};
  for (const key of keys) {
    lane[key] = own(payload, key);
    delete rest[key];
  }
  return { lane, rest };
}
