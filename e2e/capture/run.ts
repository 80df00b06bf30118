/**
 * `npm run capture-vendors -- --out <dir>`: forty standard events through the whole service to every vendor that speaks HTTP. Writes one
 * file per vendor with the requests it received and the outcome of every event, and an index.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadVendors } from '@firsthand/catalog/index.ts';
import { completeConfig } from '@firsthand/catalog/vendors/shared/run-case.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { type Client, send, signIn } from '../harness/client.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { startService } from '../harness/service.ts';
import { STANDARD_EVENTS } from './events.ts';

interface Captured {
  vendor: VendorDefinition;
  receiver: Receiver;
  integrationId: string;
}
interface Outcome {
  status: string;
  reason?: string;
}
const { values } = parseArgs({ options: { out: { type: 'string' }, vendor: { type: 'string', multiple: true } } });
if (values.out === undefined) {
  console.error('usage: npm run capture-vendors -- --out <dir> [--vendor <key>]…');
  process.exit(1);
}
const wanted = new Set(values.vendor ?? []);
/** Set by the HTTP client or different in every run. */
const NOISE = new Set(['host', 'connection', 'content-length', 'accept', 'accept-encoding', 'keep-alive', 'transfer-encoding']);
const QUIET_MS = 5_000;
/** The placeholder of a private key signs nothing. */
const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const service = await startService();
try {
  const client = await signIn(service);
  const vendors = (await loadVendors()).filter(({ key, transport }) => !transport && (wanted.size === 0 || wanted.has(key)));
  const pipeline = await client.post('/pipelines', { name: 'Capture', type: 'server' });
  const captured: Captured[] = [];
  for (const vendor of vendors) captured.push(await install(client, pipeline.id, vendor));
  await sleep(2_000);
  for (const event of STANDARD_EVENTS) {
    const { status, body } = await send(service, pipeline.pipeline_key, '/v1/events', event);
    if (status >= 300) throw new Error(`${event.messageId} was answered ${status}: ${JSON.stringify(body)}`);
  }
  await silence(captured);
  const outcomes = await outcomesOf(client);
  write(values.out, captured, outcomes);
  await Promise.all(captured.map(({ receiver }) => receiver.close()));
} finally {
  await service.stop();
}

/** Installed from the catalog with example values. A table of events gets a row for every event. */
async function install(client: Client, pipelineId: string, vendor: VendorDefinition): Promise<Captured> {
  const receiver = await startReceiver();
  receiver.answer(({ body }) => ({
    body: JSON.stringify(body.includes('grant_type') ? { access_token: 'access-token', expires_in: 3600 } : { code: 0, ok: true }),
  }));
  const config = completeConfig(vendor, 'default', {
    ...(vendor.config_fields.some(({ key }) => key === 'private_key') ? { private_key: PRIVATE_KEY } : {}),
    ...tableOf(vendor),
    endpoint: receiver.url,
    batch_interval_ms: 200,
    // The events are from January 2026.
    max_event_age_hours: 0,
  });
  const { template } = await client.post(`/integration-catalog/${vendor.key}/install`, { name: vendor.name, config });
  const integration = await client.post(`/pipelines/${pipelineId}/integrations`, { template_id: String(template?.id) });
  return { vendor, receiver, integrationId: String(integration.id) };
}

function tableOf({ event_table: table, config_fields }: VendorDefinition): JsonObject {
  const field = table && config_fields.find(({ key }) => key === table.field);
  const id = field?.columns?.find(({ key }) => key === table?.vendor_event_name)?.placeholder;
  if (!table || id === undefined) return {};
  const names = new Set(STANDARD_EVENTS.flatMap(({ event }) => (typeof event === 'string' ? [event] : [])));
  return { [table.field]: [...names, '@page'].map((name) => ({ [table.event]: name, [table.vendor_event_name]: id })) };
}

/** Waits until no vendor received anything for a while. */
async function silence(captured: Captured[]): Promise<void> {
  const count = () => captured.reduce((sum, { receiver }) => sum + receiver.requests.length, 0);
  for (let before = -1; before !== count(); ) {
    before = count();
    await sleep(QUIET_MS);
  }
}

/** What became of every event, by integration. */
async function outcomesOf(client: Client): Promise<Map<string, Record<string, Outcome>>> {
  const outcomes = new Map<string, Record<string, Outcome>>();
  for (const { messageId } of STANDARD_EVENTS) {
    const { body } = await client.call('GET', `/events/${messageId}`);
    for (const { integration_id, status, reason } of (body.deliveries ?? []) as {
      integration_id: string;
      status: string;
      reason?: string;
    }[]) {
      const own = outcomes.get(integration_id) ?? {};
      own[messageId] = { status, ...(reason ? { reason } : {}) };
      outcomes.set(integration_id, own);
    }
  }
  return outcomes;
}

function write(out: string, captured: Captured[], outcomes: Map<string, Record<string, Outcome>>): void {
  mkdirSync(out, { recursive: true });
  const rows = captured.map(({ vendor, receiver, integrationId }) => {
    const requests = receiver.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !NOISE.has(name))),
      body: parsed(body),
    }));
    const events = outcomes.get(integrationId) ?? {};
    writeFileSync(join(out, `${vendor.key}.json`), `${JSON.stringify({ vendor: vendor.key, requests, events }, null, 2)}\n`);
    const delivered = Object.values(events).filter(({ status }) => status === 'delivered').length;
    const reasons = Object.values(events).flatMap(({ status, reason }) => (status === 'delivered' ? [] : [reason ?? status]));
    const counted = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => `${reason} ${all.length}`);
    return `| ${vendor.key} | ${vendor.status} | ${requests.length} | ${delivered} | ${counted.join(', ')} |`;
  });
  const head = ['| vendor | status | requests | delivered | others |', '|---|---|---|---|---|'];
  writeFileSync(
    join(out, 'index.md'),
    `# Captured requests\n\n${STANDARD_EVENTS.length} events to ${captured.length} vendors.\n\n${[...head, ...rows].join('\n')}\n`,
  );
  console.log(`${captured.length} vendors, ${captured.reduce((sum, { receiver }) => sum + receiver.requests.length, 0)} requests: ${out}`);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
