/** One request definition, compiled: payload → items (items.ts), items → request (assemble.ts). */
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileCondition } from '../filter/condition.ts';
import { isObject } from '../json.ts';
import type { Steps } from '../steps.ts';
import { compileAnswers, type ReadAnswer } from './answers.ts';
import { assemble, type Build, type Head, usesOf } from './assemble.ts';
import { type CompiledAuth, compileAuth, type KeyOperations } from './auth.ts';
import { type CompiledBody, compileBody } from './body.ts';
import { combineItems, expandVerdict } from './combine.ts';
import type { ClientCertificate, CompiledVendor, ConfigFault, RequestContext, VendorItem, VendorRequest } from './compiled.ts';
import type { RequestDefinition } from './definition.ts';
import { headerNameFault, headerValueFault, setHeader, unmasked } from './header-rules.ts';
import { itemsOf, verbatimOf } from './items.ts';
import { compileText, type Sources, type Text, textsOf } from './text.ts';
import { type UrlRules, urlFault } from './url-rules.ts';
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
  /** The same, divided: a list of items may repeat parts of the event in each. */
  itemsInSteps(payload: unknown, event: CanonicalEvent): Steps<ReturnType<CompiledRequest['items']>>;
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
    ...itemsOf(build, options, faults),
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

/** Later headers win: our user agent, the user's, the definition's, then auth. */
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
  // A user or a definition may need another one: some vendors tell their sources apart by it.
  setHeader(fixed, 'User-Agent', USER_AGENT);
  if (isObject(user)) for (const [name, value] of Object.entries(user)) setHeader(fixed, name, String(value));
  for (const [name, text] of textsOf(definition.headers, options.parameters)) {
    const fault = headerNameFault(name) ?? (text.constant === undefined ? undefined : headerValueFault(text.constant));
    if (fault) faults.push({ field: `${options.where}.headers.${name}`, message: fault });
    else if (text.constant !== undefined) setHeader(fixed, name, unmasked(text.constant));
    else dynamic.push([name, text]);
  }
  for (const [name, value] of Object.entries(auth.headers)) setHeader(fixed, name, value);
  return { fixed, dynamic };
}
