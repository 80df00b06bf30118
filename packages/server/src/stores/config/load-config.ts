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
import type { ConfigFault } from '@firsthand/core/vendor/compiled.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { joinSecrets, type SecretAt } from '../../secrets/mask.ts';
import { engineOf } from './open.ts';
import { toPipeline } from './pipelines.ts';
import type { Db } from './schema.ts';
import { strictJson } from './stored-json.ts';
import { readConfigVersion } from './version.ts';

export interface Versioned<Row> {
  id: string;
  row_version: number;
  /** Absent where the caller's own copy is of this version. */
  row?: Row;
}
export interface OrganisationConfig extends MaybeUnreadable {
  id: string;
  data_layer: DataLayerConfig;
}
/** A row that cannot be read as it is stored says so: that piece is off, and its neighbours are loaded all the same. */
export interface MaybeUnreadable {
  unreadable?: ConfigFault[];
}
export type PipelineWithSecrets = Pipeline & MaybeUnreadable & { pipeline_key_secret: string; tracking_plan: TrackingPlan | null };
export type IntegrationWithConfig = Integration & MaybeUnreadable & { config: JsonObject };
export interface ConfigRows {
  version: number;
  urgent_version: number;
  organisations: Versioned<OrganisationConfig>[];
  pipelines: Versioned<PipelineWithSecrets>[];
  integrations: (Versioned<IntegrationWithConfig> & { pipeline_id: string })[];
  transformations: (Versioned<Transformation & MaybeUnreadable> & { pipeline_id: string })[];
  webhook_sources: (Versioned<WebhookSource & MaybeUnreadable> & { pipeline_id: string })[];
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
        if (config === undefined) return { id, data_layer: DEFAULT_DATA_LAYER };
        const reader = new RowReader();
        const data_layer = reader.json<DataLayerConfig>('config', config, DEFAULT_DATA_LAYER);
        return { id, data_layer, ...reader.faults };
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
    return rows.map(({ plan, pipeline_key_secret, search_text: _search, row_version: _version, deleted_at: _deleted, ...row }) => {
      const reader = new RowReader();
      const pipeline = reader.read('pipeline', () => toPipeline(row, strictJson), undefined);
      const secret = reader.read('pipeline_key_secret', () => cipher.openText(keyOf(row.org_id), pipeline_key_secret), '');
      // A pipeline whose rules nobody can read must take nothing in: it is as good as disabled. A lost plan is only the plan's loss.
      const disabled = reader.any;
      const tracking_plan = plan === null ? null : reader.json<TrackingPlan | null>('tracking_plan', plan, null);
      const readable = pipeline ?? toPipeline({ ...row, ...EMPTY_PIPELINE });
      return { ...readable, enabled: readable.enabled && !disabled, pipeline_key_secret: secret, tracking_plan, ...reader.faults };
    });
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
    return rows.map(({ row_version: _version, deleted_at: _deleted, secrets, config, enabled, event_filter, ...row }) => {
      const reader = new RowReader();
      return {
        ...row,
        enabled: enabled === 1,
        event_filter: event_filter === null ? null : reader.json<EventFilter | null>('event_filter', event_filter, null),
        config: reader.read('config', () => openConfig(cipher, keyOf(row.org_id), { config, secrets }), {}),
        ...reader.faults,
      };
    });
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
    return rows.map(({ row_version: _version, rules, event_filter, enabled, ...row }): Transformation & MaybeUnreadable => {
      const reader = new RowReader();
      return {
        ...row,
        rules: reader.json<Rule[]>('rules', rules, []),
        event_filter: event_filter === null ? null : reader.json<EventFilter | null>('event_filter', event_filter, null),
        enabled: enabled === 1,
        ...reader.faults,
      };
    });
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
    return rows.map(({ row_version: _version, mappings, event_name_map, enabled, signing_secret, ...row }) => {
      const reader = new RowReader();
      return {
        ...row,
        mappings: reader.json('mappings', mappings, {}),
        event_name_map: reader.json('event_name_map', event_name_map, {}),
        enabled: enabled === 1,
        signing_secret: reader.read('signing_secret', () => cipher.openText(keyOf(row.org_id), signing_secret), ''),
        ...reader.faults,
      } as WebhookSource & MaybeUnreadable;
    });
  });
}

const EMPTY_PIPELINE = {
  domain_allowlist: '[]',
  labels: '[]',
  parameters: '{}',
  config: '{}',
  js_builder_config: '{}',
  identity_config: '{}',
  enabled: 0 as const,
};

/** Reads a row's columns one by one and notes those that cannot be read. */
class RowReader {
  readonly #faults: ConfigFault[] = [];
  read<T>(field: string, read: () => T, fallback: T): T {
    try {
      return read();
    } catch (error) {
      // The message of a JSON error quotes the text, and that may be a secret.
      const why = error instanceof SyntaxError ? 'it is no JSON' : 'it cannot be opened';
      this.#faults.push({ field, message: `What is stored cannot be read: ${why}.` });
      return fallback;
    }
  }
  json<T>(field: string, text: string, fallback: T): T {
    return this.read(field, () => JSON.parse(text) as T, fallback);
  }
  get any(): boolean {
    return this.#faults.length > 0;
  }
  get faults(): MaybeUnreadable {
    return this.any ? { unreadable: this.#faults } : {};
  }
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
