/** What a vendor's cases leave out. The suite expects nothing. */
import { eventKey } from '@firsthand/core/event/canonical.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { VendorCases } from './cases.ts';

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
  const rules = requests.flatMap((request) => request.answers ?? []);
  const has = (test: (one: VendorCases['answers'][number]) => boolean) => answers.some(test);
  const missing: string[] = [];
  if (!has(({ verdict }) => ['delivered', 'accepted', 'partial'].includes(verdict.kind))) missing.push('accepted');
  if (!has(({ verdict }) => ['refused', 'partial'].includes(verdict.kind) || 'isolate' in verdict)) missing.push('rejected');
  if (!has(({ reply }) => reply.status === 429 || reply.status === 503)) missing.push('throttled');
  if (rules.some(({ verdict }) => verdict === 'partial') && !has(({ verdict }) => verdict.kind === 'partial')) missing.push('partial');
  if (rules.some(({ verdict }) => verdict === 'refresh_token') && !has(({ reply }) => reply.status === 401)) missing.push('token expired');
  if (requests.some(({ batch }) => batch) && !has(({ events }) => events.length > 1) && !cases.some(({ batched }) => batched))
    missing.push('a batch');
  return missing;
}

/** Fields of which at least one is required, and no case lacks them all. */
export function dropsWithoutCase({ require_one_of = [] }: VendorDefinition, { cases }: Pick<VendorCases, 'cases'>): string[] {
  const reasons = new Set(cases.map(({ dropped }) => dropped as string | undefined));
  return require_one_of.map(([first]) => `missing_required:${first}`).filter((reason) => !reasons.has(reason));
}
