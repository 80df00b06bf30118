/**
 * Reads the configuration for the snapshot: ids and row versions of all live rows, and the decrypted full rows of those that the caller
 * does not hold at that version.
 *
 * Versions combine as follows. An integration's row holds its pin, and a revision never changes, so its `row_version` covers its config.
 * Placeholders are filled from the pipeline, so a compiled integration is stale when its own row_version or its pipeline's changes. A
 * tracking plan is part of its pipeline: writing it changes the pipeline's row_version. An organisation's row_version is the greater of
 * its own and its data layer's. No compiled piece depends on a template's name or description, and its vendor never changes.
 */
import { type Integration, integration } from '@firsthand/core/config/integration.ts';
import { type Pipeline, pipeline } from '@firsthand/core/config/pipeline.ts';
import { type DataLayerConfig, DEFAULT_DATA_LAYER, type TrackingPlan } from '@firsthand/core/config/resources.ts';
import { type Transformation, transformation } from '@firsthand/core/config/transformation.ts';
import { type WebhookSource, webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { turns } from '../../runtime/turns.ts';
import type { Cipher, KeyedOrganisation } from '../../secrets/cipher.ts';
import { selectIntegrations } from './integrations.ts';
import { rowBytes } from './large-columns.ts';
import { engineOf } from './open.ts';
import { openParameters } from './pipeline-parameters.ts';
import { RevisionConfigs } from './revision-configs.ts';
import { type MaybeUnreadable, RowReader, unreadable } from './row-reader.ts';
import type { Db } from './schema.ts';
import { type Documents, readSized } from './sized-rows.ts';
import { readConfigVersion } from './version.ts';

export interface Versioned<Row> {
  id: string;
  row_version: number;
  /** Absent if the caller already has this version. */
  row?: Row;
}
export interface OrganisationConfig extends MaybeUnreadable {
  id: string;
  data_layer: DataLayerConfig;
}
export type PipelineWithSecrets = Pipeline &
  MaybeUnreadable & {
    pipeline_key_secret: string;
    tracking_plan: TrackingPlan | null;
    /** Of the plan alone: a plan of 10,000 properties is compiled again only when it was written. */
    plan_version?: number | null;
    /** The parameters that are stored sealed, whatever their names say. */
    sealed_parameters?: readonly string[];
  };
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
/** The rows without what only their queries need. */
export type VersionedRows = Pick<ConfigRows, 'version' | 'urgent_version'> & {
  [K in Exclude<keyof ConfigRows, 'version' | 'urgent_version'>]: Versioned<NonNullable<ConfigRows[K][number]['row']>>[];
};

/** The row versions that the caller holds, by id. */
export type KnownVersions = Pick<ReadonlyMap<string, number>, 'get'>;

/** Reads everything in one transaction, so that the rows are consistent while writers continue. */
export async function loadConfig(db: Db, cipher: Cipher, known: KnownVersions): Promise<ConfigRows> {
  const transaction = engineOf(db) === 'postgres' ? db.transaction().setIsolationLevel('repeatable read') : db.transaction();
  return await transaction.execute((tx) => readAll(tx, cipher, known));
}

async function readAll(tx: Db, cipher: Cipher, known: KnownVersions): Promise<ConfigRows> {
  const version = await readConfigVersion(tx);
  const keys = new Map((await tx.selectFrom('organisations').select(['id', 'data_key']).execute()).map((org) => [org.id, org]));
  const keyOf = (orgId: string): KeyedOrganisation => {
    const key = keys.get(orgId);
    if (key === undefined) throw new Error(`organisation ${orgId} has no row`);
    return key;
  };
  return {
    ...version,
    organisations: await readOrganisations(tx, known),
    pipelines: await readPipelines(tx, cipher, keyOf, known),
    integrations: await readIntegrations(tx, cipher, keyOf, known),
    transformations: await readTransformations(tx, known),
    webhook_sources: await readWebhookSources(tx, cipher, keyOf, known),
  };
}

async function readOrganisations(tx: Db, known: KnownVersions): Promise<Versioned<OrganisationConfig>[]> {
  const all = tx.selectFrom('organisations').leftJoin('data_layers', 'data_layers.org_id', 'organisations.id').select('organisations.id');
  const heads = await all.select(['organisations.row_version', 'data_layers.row_version as data_layer_version']).execute();
  return await withRows(
    tx,
    heads.map((head) => ({ id: head.id, row_version: Math.max(head.row_version, head.data_layer_version ?? 0) })),
    known,
    {
      sizes: (ids) => all.select(rowBytes('data_layers')).where('organisations.id', 'in', ids).execute(),
      rows: (ids) => all.select('data_layers.config').where('organisations.id', 'in', ids).execute(),
      decode({ id, config }) {
        const reader = new RowReader();
        const data_layer = config === null ? DEFAULT_DATA_LAYER : reader.json<DataLayerConfig>('config', config, DEFAULT_DATA_LAYER);
        return { id, data_layer, ...unreadable(reader.faults) };
      },
    },
  );
}

type KeyOf = (orgId: string) => KeyedOrganisation;

async function readPipelines(tx: Db, cipher: Cipher, keyOf: KeyOf, known: KnownVersions) {
  const heads = await tx.selectFrom('pipelines').select(['id', 'row_version']).where('deleted_at', 'is', null).execute();
  const joined = tx.selectFrom('pipelines').leftJoin('tracking_plans', 'tracking_plans.pipeline_id', 'pipelines.id');
  return await withRows(tx, heads, known, {
    sizes: (ids) =>
      joined
        .select(['pipelines.id', rowBytes('pipelines', 'tracking_plans')])
        .where('pipelines.id', 'in', ids)
        .execute(),
    rows: (ids) =>
      joined
        .selectAll('pipelines')
        .select(['tracking_plans.plan', 'tracking_plans.row_version as plan_version'])
        .where('pipelines.id', 'in', ids)
        .execute(),
    decode(row) {
      const reader = new RowReader();
      const read = pipeline.fromRow(row, reader.json);
      const secret = reader.read('pipeline_key_secret', () => cipher.openText(keyOf(row.org_id), row.pipeline_key_secret), '');
      const { parameters, sealed: sealed_parameters } = reader.read(
        'parameters',
        () => openParameters(cipher, keyOf(row.org_id), read.parameters, row),
        { parameters: {}, sealed: [] },
      );
      // A pipeline with an unreadable rule must reject everything, so it is disabled. An unreadable plan disables only the plan.
      const disabled = reader.any;
      const tracking_plan = row.plan === null ? null : reader.json<TrackingPlan | null>('tracking_plan', row.plan, null);
      const enabled = read.enabled && !disabled;
      const { plan_version } = row;
      const own = { parameters, sealed_parameters, enabled, pipeline_key_secret: secret, tracking_plan, plan_version };
      return { ...read, ...own, ...unreadable(reader.faults) };
    },
  });
}

/** Heads of integrations that are read at once. In SQLite a thousand take this thread a millisecond, and there may be tens of thousands. */
const HEADS = 1_000;

async function integrationHeads(tx: Db) {
  const next = (after: string) =>
    tx
      .selectFrom('integrations')
      .innerJoin('pipelines', 'pipelines.id', 'integrations.pipeline_id')
      .select(['integrations.id', 'integrations.row_version', 'integrations.pipeline_id'])
      .where('integrations.deleted_at', 'is', null)
      .where('pipelines.deleted_at', 'is', null)
      .where('integrations.id', '>', after)
      .orderBy('integrations.id')
      .limit(HEADS)
      .execute();
  const heads: Awaited<ReturnType<typeof next>> = [];
  for (;;) {
    const read = await next(heads.at(-1)?.id ?? '');
    heads.push(...read);
    if (read.length < HEADS) return heads;
    await turns.bulk();
  }
}

async function readIntegrations(tx: Db, cipher: Cipher, keyOf: KeyOf, known: KnownVersions) {
  const heads = await integrationHeads(tx);
  const configs = new RevisionConfigs(tx, cipher, keyOf);
  return await withRows(tx, heads, known, {
    sizes: (ids) =>
      tx
        .selectFrom('integrations')
        .select(['id', rowBytes('integrations')])
        .where('id', 'in', ids)
        .execute(),
    async rows(ids) {
      const rows = await selectIntegrations(tx).select('revisions.id as revision_id').where('integrations.id', 'in', ids).execute();
      await configs.load(rows);
      return rows;
    },
    decode(row) {
      const reader = new RowReader();
      const read = integration.fromRow(row, reader.json);
      const { config, faults } = configs.of(row);
      return { ...read, config, ...unreadable([...reader.faults, ...faults]) };
    },
  });
}

async function readTransformations(tx: Db, known: KnownVersions) {
  const heads = await tx
    .selectFrom('transformations')
    .innerJoin('pipelines', 'pipelines.id', 'transformations.pipeline_id')
    .select(['transformations.id', 'transformations.row_version', 'transformations.pipeline_id'])
    .where('pipelines.deleted_at', 'is', null)
    .orderBy('transformations.position')
    .orderBy('transformations.id')
    .execute();
  const all = tx.selectFrom('transformations');
  return await withRows(tx, heads, known, {
    sizes: (ids) =>
      all
        .select(['id', rowBytes('transformations')])
        .where('id', 'in', ids)
        .execute(),
    rows: (ids) => all.selectAll().where('id', 'in', ids).execute(),
    decode(row) {
      const reader = new RowReader();
      return { ...transformation.fromRow(row, reader.json), ...unreadable(reader.faults) };
    },
  });
}

async function readWebhookSources(tx: Db, cipher: Cipher, keyOf: KeyOf, known: KnownVersions) {
  const heads = await tx
    .selectFrom('webhook_sources')
    .innerJoin('pipelines', 'pipelines.id', 'webhook_sources.pipeline_id')
    .select(['webhook_sources.id', 'webhook_sources.row_version', 'webhook_sources.pipeline_id'])
    .where('pipelines.deleted_at', 'is', null)
    .execute();
  const all = tx.selectFrom('webhook_sources');
  return await withRows(tx, heads, known, {
    sizes: (ids) =>
      all
        .select(['id', rowBytes('webhook_sources')])
        .where('id', 'in', ids)
        .execute(),
    rows: (ids) => all.selectAll().where('id', 'in', ids).execute(),
    decode(row) {
      const reader = new RowReader();
      return {
        ...webhookSource.fromRow(row, reader.json),
        signing_secret: reader.read('signing_secret', () => cipher.openText(keyOf(row.org_id), row.signing_secret), ''),
        ...unreadable(reader.faults),
      };
    },
  });
}

async function withRows<Head extends { id: string; row_version: number }, Row extends { id: string }, Read extends { id: string }>(
  tx: Db,
  heads: Head[],
  known: KnownVersions,
  documents: Documents<Row, Read>,
): Promise<(Head & { row?: Read })[]> {
  const wanted: string[] = [];
  for (const { id, row_version } of heads) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    if (known.get(id) !== row_version) wanted.push(id);
  }
  if (wanted.length === 0) return heads;
  const rows = new Map((await readSized(tx, wanted, documents)).map((row) => [row.id, row]));
  return heads.map((head) => {
    const row = rows.get(head.id);
    return row === undefined ? head : { ...head, row };
  });
}
