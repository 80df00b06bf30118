import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import { countOf, type Page, type Paged, readPage } from './paging.ts';
import type { Db, Stamp, WebhookSourceRow } from './schema.ts';
import { columnsOf, storedJson } from './stored-json.ts';

/** Without the signing secret, which stays sealed in its row. */
export type PublicSource = Omit<WebhookSource, 'signing_secret'>;
export type WebhookSourceFields = Omit<PublicSource, 'id' | 'org_id' | 'created_at' | 'updated_at'>;

const PUBLIC_COLUMNS = [
  'id',
  'org_id',
  'pipeline_id',
  'name',
  'source_type',
  'provider',
  'enabled',
  'event_type_path',
  'mappings',
  'event_name_map',
  'timestamp_path',
  'timestamp_format',
  'signature_header',
  'signature_method',
  'created_at',
  'updated_at',
] as const;

/** Of pipelines that are alive: a deleted pipeline's sources are gone with it. */
function select(db: Db, orgId: string) {
  return db
    .selectFrom('webhook_sources')
    .where('org_id', '=', orgId)
    .where('pipeline_id', 'in', (eb) =>
      eb.selectFrom('pipelines').select('pipelines.id').where('pipelines.org_id', '=', orgId).where('pipelines.deleted_at', 'is', null),
    );
}

export async function findWebhookSource(db: Db, orgId: string, id: string): Promise<PublicSource | undefined> {
  const row = await select(db, orgId).select(PUBLIC_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row && toSource(row);
}

/** Newest first. */
export async function listWebhookSources(db: Db, orgId: string, pipelineId: string | undefined, page: Page): Promise<Paged<PublicSource>> {
  let query = select(db, orgId);
  if (pipelineId !== undefined) query = query.where('pipeline_id', '=', pipelineId);
  const listed = query.select(PUBLIC_COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc');
  const { rows, total } = await readPage(listed, page, () => countOf(query));
  return { rows: rows.map(toSource), total };
}

export async function insertWebhookSource(
  tx: Db,
  identity: { id: string; org_id: string },
  fields: WebhookSourceFields,
  sealedSecret: string,
  stamp: Stamp,
): Promise<PublicSource> {
  const row = await tx
    .insertInto('webhook_sources')
    .values({
      ...identity,
      ...toColumns(fields),
      signing_secret: sealedSecret,
      row_version: stamp.row_version,
      created_at: stamp.now,
      updated_at: stamp.now,
    })
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirstOrThrow();
  return toSource(row);
}

export async function updateWebhookSource(
  tx: Db,
  before: PublicSource,
  sent: Partial<WebhookSourceFields>,
  sealedSecret: string | undefined,
  stamp: Stamp,
): Promise<PublicSource> {
  const row = await tx
    .updateTable('webhook_sources')
    .set({
      ...columnsOf(toColumns({ ...before, ...sent }), sent),
      ...(sealedSecret === undefined ? {} : { signing_secret: sealedSecret }),
      row_version: stamp.row_version,
      updated_at: stamp.now,
    })
    .where('org_id', '=', before.org_id)
    .where('id', '=', before.id)
    .returning(PUBLIC_COLUMNS)
    .executeTakeFirstOrThrow();
  return toSource(row);
}

export async function deleteWebhookSource(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('webhook_sources').where('org_id', '=', orgId).where('id', '=', id).execute();
}

function toColumns(fields: WebhookSourceFields) {
  return {
    ...fields,
    mappings: JSON.stringify(fields.mappings),
    event_name_map: JSON.stringify(fields.event_name_map),
    enabled: fields.enabled ? (1 as const) : (0 as const),
  };
}
function toSource(row: Pick<WebhookSourceRow, (typeof PUBLIC_COLUMNS)[number]>): PublicSource {
  return {
    ...row,
    mappings: storedJson<Record<string, string>>(row.mappings, {}),
    event_name_map: storedJson<Record<string, string>>(row.event_name_map, {}),
    enabled: row.enabled === 1,
  } as PublicSource;
}
