/** What a vendor's cases leave out. The suite expects nothing. */
import { eventKey } from '@firsthand/core/event/canonical.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { compileMapping } from '@firsthand/core/mapping/mapping.ts';
import { compileAnswers } from '@firsthand/core/vendor/answers.ts';
import type { AnswerRule, AuthDefinition, VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { AnswerCase, VendorCase, VendorCases } from './cases.ts';
import { answerOf, type CaseResult, compileCase, NOW, type ReadReply, requestsFor } from './run-case.ts';

const letters = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '');

/** The vendor's names that no case sends. Names that only spell the event's own in another way are left to the rule that makes them. */
export function namesWithoutCase({ variants }: VendorDefinition, { cases }: Pick<VendorCases, 'cases'>): string[] {
  const covered = new Set(
    cases.flatMap(({ event, batched = [] }) => [event, ...batched].flatMap((one) => [eventKey(one), `@${one.original_type ?? one.type}`])),
  );
  const sentFor = new Map<string, string[]>();
  for (const [event, entry] of entriesOf(variants[0]?.default_config)) {
    const name = entry.vendor_event_name;
    if (entry.enabled === false || typeof name !== 'string' || letters(name).endsWith(letters(event))) continue;
    sentFor.set(name, [...(sentFor.get(name) ?? []), event]);
  }
  return [...sentFor]
    .filter(([, events]) => !events.some((event) => covered.has(event)))
    .map(([name, events]) => `${events[0]} is ${name}`);
}

function entriesOf(config: JsonObject | undefined): [event: string, entry: JsonObject][] {
  const events = isObject(config?.events) ? Object.entries(config.events) : [];
  return events.flatMap(([event, entries]) =>
    [entries].flat().flatMap((entry): [string, JsonObject][] => (isObject(entry) ? [[event, entry as JsonObject]] : [])),
  );
}

/** Kinds of answers that no case has, where the vendor can give them. */
export function answersWithoutCase({ chain, transport, requests }: VendorDefinition, { cases, answers }: VendorCases): string[] {
  if (transport) return [];
  if (chain) return cases.some(({ replies = [] }) => replies.some(({ status }) => status >= 400)) ? [] : ['a step that fails'];
  const has = (test: (one: VendorCases['answers'][number]) => boolean) => answers.some(test);
  const missing: string[] = [];
  if (!has(({ verdict }) => ['delivered', 'accepted', 'partial'].includes(verdict.kind))) missing.push('accepted');
  if (!has(({ verdict }) => ['refused', 'partial'].includes(verdict.kind) || 'isolate' in verdict)) missing.push('rejected');
  if (!has(({ reply }) => reply.status === 429 || reply.status === 503)) missing.push('throttled');
  if (requests.some(({ auth }) => hasToken(auth)) && !has(({ reply }) => reply.status === 401)) missing.push('token expired');
  if (requests.some(({ batch }) => batch) && !has(({ events }) => events.length > 1) && !cases.some(({ batched }) => batched))
    missing.push('a batch');
  return missing;
}

function hasToken(auth: AuthDefinition | undefined): boolean {
  if (auth?.kind === 'choice') return Object.values(auth.options).some(hasToken);
  return auth !== undefined && (auth.kind.startsWith('oauth2_') || auth.kind === 'google_service_account');
}

/**
 * Whatever else it says with such a status, a vendor is asked again later. For every vendor, beside its own cases. The receivers of webhooks
 * are not vendors: for them 408 is final like any 4xx.
 */
export function temporaryAnswersOf({ vendor, cases }: Pick<VendorCases, 'vendor' | 'cases'>): AnswerCase[] {
  if (vendor.transport || vendor.chain) return [];
  const { event, variant = 'default', config = {} } = cases.find(({ requests }) => requests) ?? cases[0]!;
  return (vendor.group === 'custom' ? [429, 503] : [408, 429, 503]).map((status) => ({
    name: `${status} is temporary`,
    events: [event],
    variant,
    config,
    reply: { status },
    verdict: { kind: 'unavailable' },
  }));
}
/** The same for the first step of a chain. */
export function temporaryStepsOf({ vendor, cases }: Pick<VendorCases, 'vendor' | 'cases'>): VendorCase[] {
  const first = cases.find(({ requests }) => requests);
  if (!vendor.chain || !first) return [];
  return [408, 429, 503].map((status) => ({
    ...first,
    name: `${status} is temporary`,
    replies: [{ status }],
    requests: (first.requests ?? []).slice(0, 1),
    verdict: { kind: 'unavailable' },
  }));
}

/** Answer rules without which every case would still have its verdict. Equal rules of several requests count once. */
export function rulesWithoutCase(vendor: VendorDefinition, { cases, answers }: VendorCases): string[] {
  const { requests, chain = [] } = vendor;
  const all = [...requests, ...requests.flatMap(({ poll }) => poll ?? []), ...chain].flatMap((request) => request.answers ?? []);
  const rules = new Map(all.map((rule) => [JSON.stringify(rule), rule]));
  const compiled = ({ variant, config }: Pick<VendorCase, 'variant' | 'config'>) => compileCase(vendor, variant, config);
  const replies = [
    ...answers.map((one) => answerOf(vendor, compiled(one), one)),
    ...cases.flatMap((one) => assertedReplies(requestsFor(compiled(one), one.event, one, chain), one)),
  ];
  for (const rule of replies.flatMap(decisiveRules)) rules.delete(JSON.stringify(rule));
  return [...rules.values()].map(
    ({ status = ['any status'], when, verdict }) => `${status.join(', ')}${when ? ` when ${JSON.stringify(when)}` : ''}: ${verdict}`,
  );
}

/** A reply that the chain walked past was read as delivered. Only a verdict says how the last one was read. */
function assertedReplies({ replies }: CaseResult, { verdict }: VendorCase): ReadReply[] {
  return verdict ? replies : replies.slice(0, -1);
}

/** The rules that change the verdict when they are left out. */
function decisiveRules({ rules, has_token, reply, items }: ReadReply): AnswerRule[] {
  const verdictOf = (kept: readonly AnswerRule[]) =>
    JSON.stringify(compileAnswers(kept, { where: '', has_token, scrub: (text) => text }, [])(reply, items, { now: NOW }));
  const whole = verdictOf(rules);
  return rules.filter((rule) => verdictOf(rules.filter((other) => other !== rule)) !== whole);
}

/** Fields of which at least one is required, and required mappings, whose absence no case shows. */
export function dropsWithoutCase(vendor: VendorDefinition, { cases }: Pick<VendorCases, 'cases'>): string[] {
  const { require_one_of = [] } = vendor;
  const reasons = new Set(cases.map(({ dropped }) => dropped as string | undefined));
  const required = linesOf(vendor)
    .filter((line) => line.required === true)
    .map(({ target }) => `missing_required:${String(target)}`);
  const expected = [...require_one_of.map(([first]) => `missing_required:${first}`), ...required];
  return [...new Set(expected)].filter((reason) => !reasons.has(reason));
}

const HASHES = ['sha256', 'md5', 'sha1'];
/** Hashing mappings whose result no case expects in a request. */
export function hashesWithoutCase(vendor: VendorDefinition, { cases }: Pick<VendorCases, 'cases'>): string[] {
  const expected = cases.flatMap(({ event, batched = [], requests }) =>
    requests ? [{ events: [event, ...batched], text: JSON.stringify(requests) }] : [],
  );
  const hashing = linesOf(vendor).filter(
    ({ transforms }) => Array.isArray(transforms) && transforms.some((one) => HASHES.includes(String(one))),
  );
  return hashing
    .filter((line) => {
      const mapping = compileMapping({ version: 2, global: { mappings: [line] }, defaults: { action: 'map' } });
      if (!mapping.ok) throw new Error(JSON.stringify(mapping.faults));
      return !expected.some(({ events, text }) =>
        events.some((event) => {
          const mapped = mapping.run(event, { now: NOW });
          return mapped.kind === 'payload' && hashesIn(mapped.payload).some((hash) => text.includes(hash));
        }),
      );
    })
    .map(({ source, target }) => `${[source].flat().join(' or ')} is hashed into ${String(target)}`);
}

function hashesIn(payload: unknown): string[] {
  return JSON.stringify(payload).match(/[0-9a-f]{16,64}/g) ?? [];
}

/** Every mapping line of every variant, once. */
function linesOf({ variants, event_table }: VendorDefinition): JsonObject[] {
  const lines = new Map<string, JsonObject>();
  for (const { default_config } of variants) {
    const parts = [default_config.global, default_config.defaults, ...entriesOf(default_config).map(([, entry]) => entry)];
    for (const part of parts) {
      // An event table enables events that are off.
      if (isObject(part) && part.enabled === false && !event_table) continue;
      const mappings = isObject(part) && Array.isArray(part.mappings) ? part.mappings : [];
      for (const line of mappings) if (isObject(line)) lines.set(JSON.stringify(line), line as JsonObject);
    }
  }
  return [...lines.values()];
}
