import { type PublicWebhookSource, type WebhookSourceFields, webhookSource } from '@firsthand/core/config/webhook-source.ts';
import { rowBytes } from './large-columns.ts';
import { anyContains, countOf, decodeInTurns, type Page, type Paged, readBoundedPage } from './paging.ts';
import type { Db, Stamp, WebhookSourceRow } from './schema.ts';
import { lenientJson } from './stored-json.ts';

const read = (row: Omit<WebhookSourceRow, 'signing_secret' | 'row_version'>): PublicWebhookSource =>
  webhookSource.fromRow(row, lenientJson);

/** Only sources of live pipelines: deleting a pipeline hides its sources. */
function select(db: Db, orgId: string) {
  return db
    .selectFrom('webhook_sources')
    .where('org_id', '=', orgId)
    .where('pipeline_id', 'in', (eb) =>
      eb.selectFrom('pipelines').select('pipelines.id').where('pipelines.org_id', '=', orgId).where('pipelines.deleted_at', 'is', null),
    );
}

export async function findWebhookSource(db: Db, orgId: string, id: string): Promise<PublicWebhookSource | undefined> {
  const row = await select(db, orgId).select(webhookSource.columns).where('id', '=', id).executeTakeFirst();
  return row && read(row);
}

/** Those that read from a broker: each holds a connection. */
export async function countBrokerSources(db: Db, orgId: string): Promise<number> {
  return await countOf(select(db, orgId).where('kind', '<>', 'webhook'));
}

export interface WebhookSourceFilter {
  pipeline_id?: string | undefined;
  /** Part of the name. */
  search?: string | undefined;
  /** Only these. */
  ids?: readonly string[] | undefined;
}
/** Newest first. */
export async function listWebhookSources(
  db: Db,
  orgId: string,
  { pipeline_id, search, ids }: WebhookSourceFilter,
  page: Page,
): Promise<Paged<PublicWebhookSource>> {
  let query = select(db, orgId);
  if (pipeline_id !== undefined) query = query.where('pipeline_id', '=', pipeline_id);
  if (search !== undefined) query = query.where(anyContains(['name'], search));
  if (ids !== undefined) query = query.where('id', 'in', ids);
  const ordered = query.orderBy('created_at', 'desc').orderBy('id', 'desc');
  const sized = ordered.select(rowBytes('webhook_sources'));
  const { rows, total } = await readBoundedPage(ordered.select(webhookSource.columns), sized, page, () => countOf(query));
  return { rows: await decodeInTurns(rows, read), total };
}

export async function insertWebhookSource(
  tx: Db,
  identity: { id: string; org_id: string },
  fields: WebhookSourceFields,
  sealedSecret: string,
  stamp: Stamp,
): Promise<PublicWebhookSource> {
  const row = await tx
    .insertInto('webhook_sources')
    .values({
      ...webhookSource.toColumns(fields),
      ...identity,
      signing_secret: sealedSecret,
      row_version: stamp.row_version,
      created_at: stamp.now,
      updated_at: stamp.now,
    })
    .returning(webhookSource.columns)
    .executeTakeFirstOrThrow();
  return read(row);
}

export async function updateWebhookSource(
  tx: Db,
  before: PublicWebhookSource,
  sent: Partial<WebhookSourceFields>,
  sealedSecret: string | undefined,
  stamp: Stamp,
): Promise<PublicWebhookSource> {
  const row = await tx
    .updateTable('webhook_sources')
    .set({
      ...webhookSource.toChangedColumns(sent),
      ...(sealedSecret === undefined ? {} : { signing_secret: sealedSecret }),
      row_version: stamp.row_version,
      updated_at: stamp.now,
    })
    .where('org_id', '=', before.org_id)
    .where('id', '=', before.id)
    .returning(webhookSource.columns)
    .executeTakeFirstOrThrow();
  return read(row);
}

export async function deleteWebhookSource(tx: Db, orgId: string, id: string): Promise<void> {
  await tx.deleteFrom('webhook_sources').where('org_id', '=', orgId).where('id', '=', id).execute();
}
