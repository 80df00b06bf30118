/** Runs a case through the same code that delivers: compile, build, request, read. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { CHAIN_START, type ChainStep } from '@firsthand/core/vendor/chain.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { Built, CompiledVendor, VendorItem, VendorReply, VendorRequest, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { AnswerRule, VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { mergeConfig } from '@firsthand/core/vendor/merge.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import type { AnswerCase, VendorCase } from './cases.ts';

export const NOW = Date.UTC(2026, 0, 2, 3, 5, 0);
const CONTEXT = { now: NOW, attempt: 1, access_token: 'access-token' };

/** A variant with the placeholders of its required fields: a complete config. */
export function completeConfig(vendor: VendorDefinition, variant = 'default', over: JsonObject = {}): JsonObject {
  const chosen = vendor.variants.find(({ key }) => key === variant);
  if (!chosen) throw new Error(`${vendor.key} has no variant ${variant}`);
  const valueAt = (key: string) =>
    over[key] ?? chosen.default_config[key] ?? vendor.config_fields.find((field) => field.key === key)?.default;
  const fields = vendor.config_fields
    .filter(({ required, required_when: when }) => required || (when && valueAt(when.field) === when.equals))
    .map(({ key, placeholder }) => [key, placeholder] as const);
  return mergeConfig(mergeConfig(chosen.default_config, Object.fromEntries(fields)), over) as JsonObject;
}

const compiled = new WeakMap<VendorDefinition, Map<string, CompiledVendor>>();

/** Most cases of a vendor share their config, so it is compiled once. */
export function compileCase(vendor: VendorDefinition, variant?: string, over?: JsonObject): CompiledVendor {
  const known = compiled.get(vendor) ?? new Map<string, CompiledVendor>();
  compiled.set(vendor, known);
  const name = JSON.stringify([variant, over]);
  const found = known.get(name) ?? compileOnce(vendor, variant, over);
  known.set(name, found);
  return found;
}

function compileOnce(vendor: VendorDefinition, variant?: string, over?: JsonObject): CompiledVendor {
  const result = compileVendor(vendor, completeConfig(vendor, variant, over), {
    mode: 'production',
    allow_private: false,
    gzip: (data) => data,
  });
  if (!result.ok) throw new Error(JSON.stringify([...result.missing, ...result.invalid]));
  return result.vendor;
}

/** A vendor's reply, and the rules that read it. */
export interface ReadReply {
  rules: readonly AnswerRule[];
  has_token: boolean;
  reply: VendorReply;
  items: VendorItem[];
}
export interface CaseResult {
  built: Built;
  requests: VendorRequest[];
  records: NonNullable<VendorCase['records']>;
  /** Chains: the reply to each request, and the verdict of the last one. */
  replies: ReadReply[];
  verdict: Verdict | undefined;
}

/** One request per lane, as if every batch were full; for a chain all its requests. */
export function requestsFor(
  vendor: CompiledVendor,
  event: CanonicalEvent,
  { batched = [], now, replies = [] }: Pick<VendorCase, 'batched' | 'now' | 'replies'> = {},
  chain: readonly ChainStep[] = [],
): CaseResult {
  const at = now === undefined ? NOW : Date.parse(now);
  const built = vendor.build(event, { now: at });
  const { transport } = vendor;
  const nothing = { built, requests: [], records: [], replies: [], verdict: undefined };
  if (built.kind !== 'items') return nothing;
  if (transport) return { ...nothing, records: built.items.map((item) => shownRecord(transport.record(item))) };
  const [first] = built.items;
  if (vendor.chain && first) return { built, records: [], ...walk(vendor, first, replies, chain) };
  const later = batched.flatMap((one) => {
    const more = vendor.build(one, { now: at });
    return more.kind === 'items' ? more.items : [];
  });
  const all = [...built.items, ...later];
  // As the deliver role does: without batching each item is a request of its own.
  const lanes = vendor.batch === null ? all.map((item) => [item]) : [...Map.groupBy(all, ({ lane }) => lane).values()];
  return { ...nothing, requests: lanes.map((items) => vendor.request(items, { ...CONTEXT, now: at, request_id: event.event_id })) };
}

/** Without the event, which the case already names. */
function shownRecord({ event_id, target, values }: TransportRecord) {
  return { event_id, target, values };
}

function walk(
  { chain }: CompiledVendor,
  item: VendorItem,
  answers: NonNullable<VendorCase['replies']>,
  steps: readonly ChainStep[],
): Pick<CaseResult, 'requests' | 'replies' | 'verdict'> {
  const walked: Pick<CaseResult, 'requests' | 'replies' | 'verdict'> = { requests: [], replies: [], verdict: undefined };
  for (let progress = CHAIN_START; ; ) {
    const step = chain?.next(item, progress);
    if (!step) return walked;
    const { status, headers = {}, body = {} } = answers[walked.requests.length] ?? { status: 200 };
    const reply = { status, headers, body: JSON.stringify(body) };
    walked.requests.push(step.request({ ...CONTEXT, request_id: item.event_id }));
    walked.replies.push({ rules: steps[step.index]?.answers ?? [], has_token: step.token !== undefined, reply, items: [item] });
    const { verdict, kept } = step.read(reply, { now: NOW });
    walked.verdict = verdict;
    if (verdict.kind !== 'delivered') return walked;
    progress = { at: step.index + 1, steps: { ...progress.steps, [step.name]: kept } };
  }
}

/** An answer case with the rules of its request. */
export function answerOf(definition: VendorDefinition, vendor: CompiledVendor, { events, item = 0, reply, poll }: AnswerCase): ReadReply {
  const items = events.flatMap((event) => {
    const built = vendor.build(event, { now: NOW });
    return built.kind === 'items' ? built.items.slice(item, item + 1) : [];
  });
  const body = typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body);
  const request = definition.requests[Number.parseInt(items[0]?.lane ?? '', 10)];
  return {
    rules: (poll ? request?.poll?.answers : request?.answers) ?? [],
    has_token: vendor.token?.(items) !== undefined,
    reply: { status: reply.status, headers: reply.headers ?? {}, body },
    items,
  };
}

export function verdictFor(definition: VendorDefinition, one: AnswerCase): Verdict {
  const vendor = compileCase(definition, one.variant, one.config);
  const { reply, items } = answerOf(definition, vendor, one);
  const read = one.poll ? vendor.poll?.(items)?.read : vendor.read;
  if (!read) throw new Error('this vendor has no jobs to poll');
  return read(reply, items, { now: NOW });
}
