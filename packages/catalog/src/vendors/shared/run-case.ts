/** Runs a case through the same code that delivers: compile, build, request, read. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { CHAIN_START } from '@firsthand/core/vendor/chain.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { Built, CompiledVendor, VendorItem, VendorRequest, Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
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

export function compileCase(vendor: VendorDefinition, variant?: string, over?: JsonObject): CompiledVendor {
  const result = compileVendor(vendor, completeConfig(vendor, variant, over), {
    mode: 'production',
    allow_private: false,
    gzip: (data) => data,
  });
  if (!result.ok) throw new Error(JSON.stringify([...result.missing, ...result.invalid]));
  return result.vendor;
}

/** One request per lane, as if every batch were full; for a chain all its requests. */
export function requestsFor(
  vendor: CompiledVendor,
  event: CanonicalEvent,
  { batched = [], now, replies = [] }: Pick<VendorCase, 'batched' | 'now' | 'replies'> = {},
): { built: Built; requests: VendorRequest[]; records: NonNullable<VendorCase['records']> } {
  const at = now === undefined ? NOW : Date.parse(now);
  const built = vendor.build(event, { now: at });
  const { transport } = vendor;
  if (built.kind !== 'items') return { built, requests: [], records: [] };
  if (transport) return { built, requests: [], records: built.items.map((item) => shownRecord(transport.record(item))) };
  if (vendor.chain) return { built, requests: built.items.flatMap((item) => walk(vendor, item, replies)), records: [] };
  const later = batched.flatMap((one) => {
    const more = vendor.build(one, { now: at });
    return more.kind === 'items' ? more.items : [];
  });
  const all = [...built.items, ...later];
  // As the deliver role does: without batching each item is a request of its own.
  const lanes = vendor.batch === null ? all.map((item) => [item]) : [...Map.groupBy(all, ({ lane }) => lane).values()];
  const requests = lanes.map((items) => vendor.request(items, { ...CONTEXT, now: at, request_id: event.event_id }));
  return { built, requests, records: [] };
}

/** Without the event, which the case already names. */
function shownRecord({ event_id, target, values }: TransportRecord) {
  return { event_id, target, values };
}

function walk({ chain }: CompiledVendor, item: VendorItem, replies: NonNullable<VendorCase['replies']>): VendorRequest[] {
  const requests: VendorRequest[] = [];
  for (let progress = CHAIN_START; ; ) {
    const step = chain?.next(item, progress);
    if (!step) return requests;
    const { status, body = {} } = replies[requests.length] ?? { status: 200 };
    requests.push(step.request({ ...CONTEXT, request_id: item.event_id }));
    const { verdict, kept } = step.read({ status, headers: {}, body: JSON.stringify(body) }, { now: NOW });
    if (verdict.kind !== 'delivered') return requests;
    progress = { at: step.index + 1, steps: { ...progress.steps, [step.name]: kept } };
  }
}

export function verdictFor(vendor: CompiledVendor, { events, reply, poll }: AnswerCase): Verdict {
  const items = events.flatMap((event) => {
    const built = vendor.build(event, { now: NOW });
    return built.kind === 'items' ? built.items.slice(0, 1) : [];
  });
  const body = typeof reply.body === 'string' ? reply.body : reply.body === undefined ? '' : JSON.stringify(reply.body);
  const read = poll ? vendor.poll?.(items)?.read : vendor.read;
  if (!read) throw new Error('this vendor has no jobs to poll');
  return read({ status: reply.status, headers: reply.headers ?? {}, body }, items, { now: NOW });
}
