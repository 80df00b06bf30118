/**
 * What the snapshot loader reads: the ids of everything alive with their row versions, and the full rows, secrets opened, of those the
 * caller does not hold at that version.
 *
 * What must be combined: an integration's own row carries its pin, and a revision never changes, so `row_version` covers its config; the
 * placeholders in it are filled from the pipeline, so a compiled integration is stale when its own row_version OR its pipeline's moves.
 * A tracking plan is part of its pipeline (writing it moves the pipeline's row_version). An organisation's row_version is the greater of
 * its own and its data layer's. A template's name and description are in no compiled piece; its vendor never changes.
 */
import {
  type DataLayerConfig,
  DEFAULT_DATA_LAYER,
  type EventFilter,
  type Integration,
  type Pipeline,
  type Rule,
  type TrackingPlan,
  type Transformation,
  type WebhookSource,
} from '@firsthand/core/config/resources.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { joinSecrets, type SecretAt } from '../../secrets/mask.ts';
import { engineOf } from './open.ts';
import { toPipeline } from './pipelines.ts';
import type { Db } from './schema.ts';
import { readConfigVersion } from './version.ts';

export interface Versioned<Row> {
  id: string;
  row_version: number;
  /** Absent where the caller's own copy is of this version. */
  row?: Row;
}
export interface OrganisationConfig {
  id: string;
  data_layer: DataLayerConfig;
}
export type PipelineWithSecrets = Pipeline & { pipeline_key_secret: string; tracking_plan: TrackingPlan | null };
export type IntegrationWithConfig = Integration & { config: JsonObject };
export interface ConfigRows {
  version: number;
  urgent_version: number;
  organisations: Versioned<OrganisationConfig>[];
  pipelines: Versioned<PipelineWithSecrets>[];
  integrations: (Versioned<IntegrationWithConfig> & { pipeline_id: string })[];
  transformations: (Versioned<Transformation> & { pipeline_id: string })[];
  webhook_sources: (Versioned<WebhookSource> & { pipeline_id: string })[];
}

const CHUNK = 500;

/** One consistent reading: everything is of one moment, although writers go on. */
export async function loadConfig(db: Db, cipher: Cipher, known: ReadonlyMap<string, number>): Promise<ConfigRows> {
  const transaction = engineOf(db) === 'postgres' ? db.transaction().setIsolationLevel('repeatable read') : db.transaction();
  return await transaction.execute((tx) => readAll(tx, cipher, known));
}

async function readAll(tx: Db, cipher: Cipher, known: ReadonlyMap<string, number>): Promise<ConfigRows> {
  const version = await readConfigVersion(tx);
  const keys = new Map((await tx.selectFrom('organisations').select(['id', 'data_key']).execute()).map((org) => [org.id, org]));
  const keyOf = (orgId: string): KeyedOrganisation => keys.get(orgId)!;
  return {
    ...version,
    organisations: await readOrganisations(tx, known),
    pipelines: await readPipelines(tx, cipher, keyOf, known),
    integrations: await readIntegrations(tx, cipher, keyOf, known),
    transformations: await readTransformations(tx, known),
    webhook_sources: await readWebhookSources(tx, cipher, keyOf, known),
  };
}

async function readOrganisations(tx: Db, known: ReadonlyMap<string, number>): Promise<Versioned<OrganisationConfig>[]> {
  const heads = await tx
    .selectFrom('organisations')
    .leftJoin('data_layers', 'data_layers.org_id', 'organisations.id')
    .select(['organisations.id', 'organisations.row_version', 'data_layers.row_version as data_layer_version'])
    .execute();
  return await withRows(
    heads.map((head) => ({ id: head.id, row_version: Math.max(head.row_version, head.data_layer_version ?? 0) })),
    known,
    async (ids) => {
      const layers = await tx.selectFrom('data_layers').select(['org_id', 'config']).where('org_id', 'in', ids).execute();
      const configs = new Map(layers.map((layer) => [layer.org_id, layer.config]));
      return ids.map((id) => {
        const config = configs.get(id);
        return { id, data_layer: config === undefined ? DEFAULT_DATA_LAYER : (JSON.parse(config) as DataLayerConfig) };
      });
    },
  );
}

type KeyOf = (orgId: string) => KeyedOrganisation;

async function readPipelines(tx: Db, cipher: Cipher, keyOf: KeyOf, known: ReadonlyMap<string, number>) {
  const heads = await tx.selectFrom('pipelines').select(['id', 'row_version']).where('deleted_at', 'is', null).execute();
  return await withRows(heads, known, async (ids) => {
    const rows = await tx
      .selectFrom('pipelines')
      .leftJoin('tracking_plans', 'tracking_plans.pipeline_id', 'pipelines.id')
      .selectAll('pipelines')
      .select('tracking_plans.plan')
      .where('pipelines.id', 'in', ids)
      .execute();
    return rows.map(({ plan, pipeline_key_secret, search_text: _search, row_version: _version, deleted_at: _deleted, ...row }) => ({
      ...toPipeline(row),
      pipeline_key_secret: cipher.openText(keyOf(row.org_id), pipeline_key_secret),
      tracking_plan: plan === null ? null : (JSON.parse(plan) as TrackingPlan),
    }));
  });
}

async function readIntegrations(tx: Db, cipher: Cipher, keyOf: KeyOf, known: ReadonlyMap<string, number>) {
  const heads = await tx
    .selectFrom('integrations')
    .innerJoin('pipelines', 'pipelines.id', 'integrations.pipeline_id')
    .select(['integrations.id', 'integrations.row_version', 'integrations.pipeline_id'])
    .where('integrations.deleted_at', 'is', null)
    .where('pipelines.deleted_at', 'is', null)
    .orderBy('integrations.id')
    .execute();
  return await withRows(heads, known, async (ids) => {
    const rows = await tx
      .selectFrom('integrations')
      .innerJoin('templates', 'templates.id', 'integrations.template_id')
      .innerJoin('revisions', (join) =>
        join
          .onRef('revisions.template_id', '=', 'integrations.template_id')
          .onRef('revisions.revision_number', '=', 'integrations.revision_number'),
      )
      .selectAll('integrations')
      .select(['templates.vendor', 'revisions.delivery_mode', 'revisions.config', 'revisions.secrets'])
      .where('integrations.id', 'in', ids)
      .execute();
    return rows.map(({ row_version: _version, deleted_at: _deleted, secrets, config, enabled, event_filter, ...row }) => ({
      ...row,
      enabled: enabled === 1,
      event_filter: event_filter === null ? null : (JSON.parse(event_filter) as EventFilter),
      config: openConfig(cipher, keyOf(row.org_id), { config, secrets }),
    }));
  });
}

async function readTransformations(tx: Db, known: ReadonlyMap<string, number>) {
  const heads = await tx
    .selectFrom('transformations')
    .innerJoin('pipelines', 'pipelines.id', 'transformations.pipeline_id')
    .select(['transformations.id', 'transformations.row_version', 'transformations.pipeline_id'])
    .where('pipelines.deleted_at', 'is', null)
    .orderBy('transformations.position')
    .orderBy('transformations.id')
    .execute();
  return await withRows(heads, known, async (ids) => {
    const rows = await tx.selectFrom('transformations').selectAll().where('id', 'in', ids).execute();
    return rows.map(
      ({ row_version: _version, rules, event_filter, enabled, ...row }): Transformation => ({
        ...row,
        rules: JSON.parse(rules) as Rule[],
        event_filter: event_filter === null ? null : (JSON.parse(event_filter) as EventFilter),
        enabled: enabled === 1,
      }),
    );
  });
}

async function readWebhookSources(tx: Db, cipher: Cipher, keyOf: KeyOf, known: ReadonlyMap<string, number>) {
  const heads = await tx
    .selectFrom('webhook_sources')
    .innerJoin('pipelines', 'pipelines.id', 'webhook_sources.pipeline_id')
    .select(['webhook_sources.id', 'webhook_sources.row_version', 'webhook_sources.pipeline_id'])
    .where('pipelines.deleted_at', 'is', null)
    .execute();
  return await withRows(heads, known, async (ids) => {
    const rows = await tx.selectFrom('webhook_sources').selectAll().where('id', 'in', ids).execute();
    return rows.map(
      ({ row_version: _version, mappings, event_name_map, enabled, signing_secret, ...row }) =>
        ({
          ...row,
          mappings: JSON.parse(mappings),
          event_name_map: JSON.parse(event_name_map),
          enabled: enabled === 1,
          signing_secret: cipher.openText(keyOf(row.org_id), signing_secret),
        }) as WebhookSource,
    );
  });
}

/** A revision's config with its secrets back in their places. */
export function openConfig(cipher: Cipher, org: KeyedOrganisation, stored: { config: string; secrets: string | null }): JsonObject {
  const open = JSON.parse(stored.config) as JsonObject;
  return stored.secrets === null ? open : joinSecrets(open, JSON.parse(cipher.openText(org, stored.secrets)) as SecretAt[]);
}

async function withRows<Head extends { id: string; row_version: number }, Row extends { id: string }>(
  heads: Head[],
  known: ReadonlyMap<string, number>,
  read: (ids: string[]) => Promise<Row[]>,
): Promise<(Head & { row?: Row })[]> {
  const wanted = heads.filter((head) => known.get(head.id) !== head.row_version).map((head) => head.id);
  const rows = new Map<string, Row>();
  for (let start = 0; start < wanted.length; start += CHUNK)
    for (const row of await read(wanted.slice(start, start + CHUNK))) rows.set(row.id, row);
  return heads.map((head) => {
    const row = rows.get(head.id);
    return row === undefined ? head : { ...head, row };
  });
}
