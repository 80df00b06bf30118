import type { TrackingPlan } from '@firsthand/core/config/resources.ts';
import { touchPipeline } from './pipelines.ts';
import type { Db, Stamp } from './schema.ts';
import { storedJsonInTurns } from './stored-json.ts';

const NO_PLAN: TrackingPlan = { events: {}, on_violation: 'allow' };

/** The plan, and when it was changed last; null for a pipeline without one. */
export async function findTrackingPlan(
  db: Db,
  orgId: string,
  pipelineId: string,
): Promise<{ plan: TrackingPlan; updated_at: string | null }> {
  const row = await db
    .selectFrom('tracking_plans')
    .select(['plan', 'updated_at'])
    .where('org_id', '=', orgId)
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirst();
  if (row === undefined) return { plan: NO_PLAN, updated_at: null };
  return { plan: await storedJsonInTurns(row.plan, NO_PLAN), updated_at: row.updated_at };
}

export async function saveTrackingPlan(
  tx: Db,
  orgId: string,
  pipelineId: string,
  plan: TrackingPlan,
  userId: string,
  stamp: Stamp,
): Promise<void> {
  const values = { plan: JSON.stringify(plan), row_version: stamp.row_version, updated_at: stamp.now, updated_by: userId };
  await tx
    .insertInto('tracking_plans')
    .values({ pipeline_id: pipelineId, org_id: orgId, ...values })
    .onConflict((conflict) => conflict.column('pipeline_id').doUpdateSet(values))
    .execute();
  await touchPipeline(tx, orgId, pipelineId, stamp);
}
