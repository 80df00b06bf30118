/**
 * A service that holds a large installation: a thousand pipelines with ten integrations each, a few megabytes of configuration, and tens of
 * thousands of events with their traces and dead letters. One of each is made by requests. The copies are written to the stopped service's
 * database, because ten thousand requests would take minutes.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Client, pipelineTo, send, signIn, until } from '../e2e/harness/client.ts';
import { type Service, startService } from '../e2e/harness/service.ts';
import { type IdPrefix, newId, randomText } from '../packages/server/src/runtime/ids.ts';

export interface Size {
  pipelines: number;
  integrationsPerPipeline: number;
  events: number;
}
export interface LargeInstallation {
  service: Service;
  client: Client;
  /** Of the pipeline that has the events, the tracking plan and everything else. */
  key: string;
  pipelineId: string;
  integrationId: string;
  templateId: string;
  webhookSourceId: string;
}
type Row = Record<string, SQLInputValue>;

/** The first twenty pipelines have a plan of this many properties. */
const PLANS = 20;
const PROPERTIES = 3_000;
const PER_BATCH = 50;

export const largePlan = (properties = PROPERTIES) => ({
  events: {
    'Order Completed': {
      properties: Object.fromEntries(
        Array.from({ length: properties }, (_, i) => [`property_${i}`, { type: 'string', description: `What property ${i} is about` }]),
      ),
    },
  },
});
const mapped = () => ({
  events: {
    'Order Completed': {
      mappings: Array.from({ length: 15 }, (_, i) => ({ source: `properties.property_${i}`, target: `order.fields.field_${i}` })),
    },
  },
});

/** Receives the events. One in ten goes to `/refuse` too, which refuses it, and becomes a dead letter. */
export interface Vendor {
  url: string;
  /** Number of requests so far. */
  requests(): number;
}

export async function startLargeInstallation(size: Size, vendor: Vendor, env: Record<string, string> = {}): Promise<LargeInstallation> {
  const service = await startService({ ACCESS_TOKEN_TTL: '24h', RETRY_BASE: '1ms', ...env }, { servers: false });
  const first = await signIn(service);
  const { pipeline, integration, key } = await pipelineTo(first, vendor.url, { pipeline: { rate_limit_rps: 1_000_000 }, config: mapped() });
  await first.post('/integrations', {
    source_id: pipeline.id,
    vendor: 'webhook',
    name: 'Nobody',
    enabled: true,
    event_filter: { event_names: ['Order Refused'] },
    config: { url: `${vendor.url}refuse`, rate_limit_rps: 100_000, rate_limit_burst: 100_000 },
  });
  const source = await first.post('/webhook-sources', { name: 'Payments', source_type: 'payment_processor', pipeline_id: pipeline.id });
  await first.post(`/pipelines/${pipeline.id}/transformations`, { name: 'Rules', kind: 'rules', rules: [] });
  await first.put(`/pipelines/${pipeline.id}/tracking-plan`, largePlan());
  await service.terminate();
  copyConfiguration(join(service.dataDir, 'config.sqlite'), size);
  await service.start();
  const client = await signIn(service);
  for (let sent = 0; sent < size.events; sent += PER_BATCH)
    await send(service, key, '/v1/batch', { batch: Array.from({ length: PER_BATCH }, (_, i) => order(sent + i)) });
  await until('every delivery', () => vendor.requests() >= size.events + size.events / 10, 600_000);
  const template = await client.get(`/pipelines/${pipeline.id}/integrations/${integration.id}`);
  return {
    service,
    client,
    key,
    pipelineId: pipeline.id,
    integrationId: integration.id,
    templateId: template.template_id,
    webhookSourceId: source.id,
  };
}

function order(n: number): object {
  return {
    type: 'track',
    event: n % 10 === 0 ? 'Order Refused' : 'Order Completed',
    messageId: `order-${n}`,
    anonymousId: `visitor-${n % 5_000}`,
    properties: { total: n, property_1: 'a', property_2: 'b', products: [{ sku: 'a', price: 1 }] },
  };
}

export function copyConfiguration(file: string, { pipelines, integrationsPerPipeline }: Size): void {
  const database = new DatabaseSync(file);
  const all = (table: string) => database.prepare(`select * from ${table}`).all() as Row[];
  const insert = (table: string, row: Row) => {
    const names = Object.keys(row);
    database.prepare(`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(...Object.values(row));
  };
  const [pipeline] = all('pipelines');
  const [plan] = all('tracking_plans');
  const [transformation] = all('transformations');
  const [integration] = all('integrations');
  const template = all('templates').find(({ id }) => id === integration?.template_id);
  const revision = all('revisions').find(({ template_id }) => template_id === integration?.template_id);
  if (!pipeline || !plan || !transformation || !integration || !template || !revision) throw new Error('there is nothing to copy');
  const id = (prefix: IdPrefix) => newId(prefix);
  database.exec('begin');
  for (let i = 1; i < pipelines; i++) {
    const pipeline_id = id('pl');
    insert('pipelines', { ...pipeline, id: pipeline_id, name: `Shop ${i}`, slug: `shop-${i}`, pipeline_key: `pk_${randomText(32)}` });
    if (i < PLANS) insert('tracking_plans', { ...plan, pipeline_id });
    insert('transformations', { ...transformation, id: id('trf'), pipeline_id });
    const template_id = id('tpl');
    insert('templates', { ...template, id: template_id, name: `Template ${i}` });
    insert('revisions', { ...revision, id: id('rev'), template_id });
    for (let j = 0; j < integrationsPerPipeline; j++)
      insert('integrations', {
        ...integration,
        id: id('int'),
        pipeline_id,
        template_id,
        name: `Receiver ${randomBytes(4).toString('hex')}`,
      });
  }
  database.exec('commit');
  database.close();
}
