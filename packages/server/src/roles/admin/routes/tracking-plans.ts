import type { TrackingPlan } from '@firsthand/core/config/resources.ts';
import { AnyObject, Body, named, OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { validateTrackingPlanInSteps } from '@firsthand/core/process/compiled.ts';
import { invalidFields } from '../../../http/errors.ts';
import { IdParams } from '../../../http/schema.ts';
import { finishInTurns, turns } from '../../../runtime/turns.ts';
import { findTrackingPlan, saveTrackingPlan } from '../../../stores/config/tracking-plans.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Tracking plan'];
const PLAN = {
  events: Type.Record(Type.String(), AnyObject({ description: 'JSON Schema of the properties.' })),
  on_violation: OneOf(['allow', 'flag', 'drop']),
};
const Plan = named('TrackingPlan', Type.Object(PLAN));

export function trackingPlanRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/pipelines/:id/tracking-plan',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Read the tracking plan',
        description: 'The `ETag` of the answer names the version, for `If-Match`.',
        tags,
        params: IdParams,
        response: { 200: Plan },
      },
    },
    async ({ params, user }, reply) => {
      const pipeline = await requirePipeline(context.db, user.org_id, params.id);
      const { plan, updated_at } = await findTrackingPlan(context.db, user.org_id, pipeline.id);
      void reply.header('etag', etag(updated_at));
      return shown(plan);
    },
  );

  app.put(
    '/pipelines/:id/tracking-plan',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change the tracking plan',
        description:
          '`allow` delivers an event that does not fit as it is, `flag` adds context.violations to it, `drop` drops it. All three count as plan_violations of alerts. With `If-Match: <ETag>` the change is rejected if somebody else changed the plan in the meantime.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `ETag` that was read.', '"2026-05-01T12:00:00.000Z"'),
        body: Body({ events: Type.Optional(PLAN.events), on_violation: Type.Optional(PLAN.on_violation) }, [], {
          examples: [
            {
              events: { 'Order Completed': { type: 'object', required: ['total'], properties: { total: { type: 'number' } } } },
              on_violation: 'flag',
            },
          ],
        }),
        response: { 200: Plan },
      },
    },
    async ({ params, body, user, headers }, reply) => {
      const faults = await finishInTurns(validateTrackingPlanInSteps({ events: {}, on_violation: 'allow', ...body }));
      if (faults.length > 0) throw invalidFields(faults);
      return await context.write(user, 'tracking_plan.updated', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        const { plan: before, updated_at } = await findTrackingPlan(tx, user.org_id, pipeline.id);
        requireUnchanged(headers['if-match'], updated_at ?? NEVER, 'The tracking plan');
        await turns.bulk();
        const after = { ...before, ...body } as TrackingPlan;
        await saveTrackingPlan(tx, user.org_id, pipeline.id, after, user.id, change.stamp);
        change.audit({ id: pipeline.id, before, after });
        void reply.header('etag', etag(change.stamp.now));
        return shown(after);
      });
    },
  );
}

/** The version of a plan that nobody has written. */
const NEVER = '0';
const etag = (updatedAt: string | null): string => `"${updatedAt ?? NEVER}"`;

function shown(plan: TrackingPlan) {
  return plan as { events: Record<string, never>; on_violation: TrackingPlan['on_violation'] };
}
