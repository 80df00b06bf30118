/**
 * Sends the events of the vendors' cases through the whole service, from the collection API to a local server, and compares what arrives
 * with what the cases expect.
 */
import { loadCases, VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import type { VendorCase } from '@firsthand/catalog/vendors/shared/cases.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type Client, send, signIn, until } from '../harness/client.ts';
import { type Received, type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Service, startService } from '../harness/service.ts';
import { requestDifferences } from './difference.ts';
import { exampleConfig, install, isTokenRequest, TOKEN } from './install.ts';

export interface CaseOfVendor extends VendorCase {
  vendor: VendorDefinition;
}
/** The cases of vendors that speak HTTP. */
export async function casesOf(keys: readonly string[] = VENDOR_KEYS): Promise<CaseOfVendor[]> {
  const all = await Promise.all(keys.map(loadCases));
  return all.flatMap((one) =>
    one === undefined || one.vendor.transport ? [] : one.cases.map((some) => ({ ...some, vendor: one.vendor })),
  );
}
export interface CaseResult {
  title: string;
  differences: string[];
}
const FINAL = new Set(['delivered', 'dropped', 'dead_lettered', 'accepted_by_vendor']);
/** The integrations of one organisation have a common budget, so the cases are divided among several services. */
const CASES_PER_SERVICE = 80;
/** A repeated id of a batch gets a suffix, because the service would drop the event as a repeat. */
const REPEATED = /(evt-\d+)-again-\d+/g;

/**
 * A case's event says what the context of the visitor is: session, click ids, campaign. The service adds these from its own memory, so
 * a transformation restores the event of the case before it is delivered.
 */
const RESTORE = [
  ...['user_id', 'anonymous_id', 'traits', 'properties', 'name'].flatMap((field) => [
    { type: 'delete', target: field },
    { type: 'map', source: `context.case.${field}`, target: field },
  ]),
  { type: 'map', source: 'context.case.context', target: 'context' },
];

export async function compareCases(cases: readonly CaseOfVendor[]): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (let from = 0; from < cases.length; from += CASES_PER_SERVICE) {
    const receiver = await startReceiver();
    const service = await startService();
    try {
      results.push(...(await compareSome(service, receiver, cases.slice(from, from + CASES_PER_SERVICE))));
    } finally {
      await service.stop();
      await receiver.close();
    }
  }
  return results;
}

async function compareSome(service: Service, receiver: Receiver, cases: readonly CaseOfVendor[]): Promise<CaseResult[]> {
  const client = await signIn(service);
  const received = cases.map((): Received[] => []);
  receiver.answer((request) => {
    const at = Number(/^\/(\d+)/.exec(request.path)?.[1]);
    if (isTokenRequest(request)) return { body: JSON.stringify(TOKEN) };
    const own = received[at] ?? [];
    const { status, body } = cases[at]?.replies?.[own.length] ?? { status: 200, body: cases[at]?.vendor.chain ? {} : { code: 0 } };
    own.push({ ...request, path: request.path.replace(/^\/\d+/, '') });
    return { status, body: JSON.stringify(body ?? {}) };
  });
  const pipelines: { id: string; pipeline_key: string }[] = [];
  for (const [at, one] of cases.entries()) {
    const pipeline = await client.post('/pipelines', { name: `${at} ${one.vendor.key}`, type: 'server' });
    await client.post(`/pipelines/${pipeline.id}/transformations`, { name: 'Restore', kind: 'rules', rules: RESTORE as never });
    const { vendor, variant = 'default' } = one;
    const config = exampleConfig(vendor, variant, {
      // Long enough for a busy machine to put all of them into one batch; in order, each would wait for the one before.
      ...(one.batched ? { batch_interval_ms: 2_000, delivery_order: 'none' } : {}),
      // The attempt that fails is compared, not the retries after it.
      ...(one.replies?.some(({ status }) => status >= 400) ? { retry_enabled: false } : {}),
      ...(one.dropped === 'event_too_old' ? { max_event_age_hours: vendor.max_event_age_hours ?? 0 } : {}),
      ...one.config,
      endpoint: `${receiver.url}/${at}`,
    });
    await install(client, pipeline.id, vendor, variant, config);
    pipelines.push(pipeline);
  }
  for (const [at, one] of cases.entries()) {
    const batch = messagesOf(one);
    const key = pipelines[at]?.pipeline_key ?? '';
    // A new pipeline is known everywhere within a second or two.
    await until(
      `${titleOf(one)} to be accepted`,
      async () => (await send(service, key, '/v1/batch', { batch })).body.accepted === batch.length,
    );
  }
  const results: CaseResult[] = [];
  for (const [at, one] of cases.entries()) {
    const expected = messagesOf(one).length;
    const id = pipelines[at]?.id ?? '';
    const outcomes = await until(`the outcome of ${titleOf(one)}`, () => outcomesOf(client, id, expected));
    results.push({ title: titleOf(one), differences: differencesOf(one, outcomes[0], received[at] ?? []) });
  }
  return results;
}

const titleOf = ({ vendor, name }: CaseOfVendor) => `${vendor.key}: ${name}`;

function differencesOf(one: CaseOfVendor, outcome: string | undefined, received: Received[]): string[] {
  const wanted = one.dropped ?? one.failed;
  if (wanted !== undefined)
    return outcome?.startsWith(wanted) && received.length === 0 ? [] : [`outcome: expected ${wanted}, received ${outcome}`];
  // After a new token the service sends the request once more.
  const renewed = one.verdict !== undefined && 'refresh_token' in one.verdict;
  const first = renewed ? received.slice(0, one.requests?.length) : received;
  const sent = first.map((request) => ({ ...request, body: request.body.replaceAll(REPEATED, '$1') }));
  const differences = requestDifferences(one.requests ?? [], sent, { anyOrder: one.batched !== undefined });
  return differences.length > 0 && outcome !== 'delivered' ? [`outcome: ${outcome}`, ...differences] : differences;
}

function messagesOf({ event, batched = [] }: CaseOfVendor): object[] {
  const seen = new Set<string>();
  return [event, ...batched].map((one, at) => {
    const messageId = seen.has(one.event_id) ? `${one.event_id}-again-${at}` : one.event_id;
    seen.add(messageId);
    return messageOf(one, messageId);
  });
}

/** As an SDK sends it. Ingest requires an id of the visitor, and of the user for an alias; the transformation removes them again. */
function messageOf(event: CanonicalEvent, messageId: string): object {
  const { type, original_type, name, group_id, user_id, anonymous_id = 'nobody', timestamp, properties, traits, context } = event;
  return {
    messageId,
    type: original_type ?? type,
    event: event.event,
    name,
    groupId: group_id,
    userId: user_id ?? (original_type === 'alias' ? 'nobody' : undefined),
    anonymousId: anonymous_id,
    timestamp,
    properties,
    traits,
    context: { ...context, case: { user_id, anonymous_id: event.anonymous_id, traits, properties, name, context } },
  };
}

/** The final result of every event at the pipeline's integration, in the order of sending; undefined while one is missing. */
async function outcomesOf(client: Client, pipelineId: string, expected: number): Promise<string[] | undefined> {
  const { body } = await client.call('GET', `/events?pipeline_id=${pipelineId}&limit=100`);
  const events = body.events as unknown as { reason: string | null; deliveries: { status: string; reason: string | null }[] }[];
  const outcomes = events.map(({ reason, deliveries: [delivery] }) =>
    delivery && FINAL.has(delivery.status) ? (delivery.reason ?? delivery.status) : reason,
  );
  if (outcomes.length < expected || outcomes.some((one) => one === null)) return undefined;
  return (outcomes as string[]).reverse();
}
