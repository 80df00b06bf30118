/** Try before you change anything: preview a mapping, compare two revisions, send one test event, replay history. */
import { randomUUID } from 'node:crypto';
import { VendorConfig } from '@firsthand/core/config/revision.ts';
import { AnyObject, Body, Nullable, named, OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { type CanonicalEvent, EVENT_TYPES } from '@firsthand/core/event/canonical.ts';
import { MAX_MESSAGE_ID_LENGTH, MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { substitute } from '@firsthand/core/mapping/parameters/substitute.ts';
import { secretParameterValues, secretValues } from '@firsthand/core/vendor/secrets.ts';
import { jsonTemplateFields } from '@firsthand/core/vendor/template-body.ts';
import { REPLAY_CHANNEL } from '../../../channels.ts';
import { ApiError, invalid, invalidFields } from '../../../http/errors.ts';
import { IdParams, TimeQuery } from '../../../http/schema.ts';
import { diffRevisions } from '../../../operations/diff.ts';
import { compileRehearsalInSteps, type Rehearse } from '../../../operations/rehearse.ts';
import { replayHistory } from '../../../operations/replay.ts';
import { trialDelivery } from '../../../operations/trial-delivery.ts';
import { compileTrial, inTestMode, withTestMode } from '../../../operations/trial-mode.ts';
import { atStep } from '../../../runtime/stall-watch.ts';
import { endLongTurn, finishInLongTurns, finishInTurns } from '../../../runtime/turns.ts';
import { prepareConfiguration } from '../../../snapshot/prepare.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import { type OpenParameters, readParameters } from '../../../stores/config/pipeline-parameters.ts';
import { findRevision } from '../../../stores/config/revisions.ts';
import { findTemplate } from '../../../stores/config/templates.ts';
import { definedOf } from '../defined.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { below, installedConfig, openStored, requireVendor, urlRules } from '../integration-config.ts';
import { VendorRequestSchema } from '../integration-schema.ts';
import { timeRange } from '../time-range.ts';
import { requireEntry, VendorParams } from './catalog.ts';
import { IntegrationParams, requireIntegration, requirePipeline } from './integrations.ts';

const tags = ['Preview, test and replay'];
const EventBody = named(
  'EventInput',
  Type.Object(
    {
      type: OneOf(EVENT_TYPES),
      event_id: Type.Optional(Type.String()),
      timestamp: Type.Optional(Type.String()),
      context: Type.Optional(AnyObject()),
    },
    {
      additionalProperties: true,
      description: 'A canonical event. `event_id`, `timestamp` and `context` may be omitted.',
      examples: [{ type: 'track', event: 'Order Completed', properties: { total: 42 } }],
    },
  ),
);
const Outcome = { dropped: Nullable(Type.Object({ reason: Type.String() })) };
const EXAMPLE_EVENT = {
  type: 'track',
  event: 'Order Completed',
  event_id: 'order-1001',
  timestamp: '2026-05-01T12:00:00.000Z',
  context: {},
  properties: { total: 42, currency: 'EUR' },
};

const TestMode = {
  test_mode: Type.Optional(Type.Boolean({ description: "Use the vendor's test mode for this event." })),
  test_code: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: "The code of the vendor's test page, where its test mode needs one.",
    }),
  ),
};
const TestResult = Type.Object({ status: Nullable(Type.Integer()), duration_ms: Type.Number(), response_excerpt: Type.String() });

export function previewRoutes(app: AdminApp, context: AdminContext): void {
  const { db, cipher, clock } = context;
  const { log, snapshots, sender, ephemeral } = context.operations;

  app.post(
    '/mapping/preview',
    {
      config: { role: 'editor', anyJson: true, unaudited: true },
      schema: {
        summary: 'Preview a mapping',
        description: 'Runs the real engine and sends nothing. Secrets are masked.',
        tags,
        body: Body(
          {
            vendor: Type.String({ minLength: 1 }),
            config: VendorConfig,
            event: EventBody,
            parameters: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 10_000 }))),
          },
          [],
          { examples: [{ vendor: 'webhook', config: { url: 'https://hooks.example/in' }, event: EXAMPLE_EVENT }] },
        ),
        response: { 200: Type.Object({ requests: Type.Array(VendorRequestSchema), ...Outcome, warnings: Type.Array(Type.String()) }) },
      },
    },
    async ({ body }) => {
      const rehearse = await rehearsalOf(body.vendor, body.config as JsonObject, { parameters: body.parameters ?? {}, sealed: [] });
      // The event may be large, and so may its requests.
      await endLongTurn();
      const { failed, ...result } = await finishInLongTurns(rehearse(eventOf(body.event), clock.now()), () => atStep('preview'));
      return failed === null ? result : { ...result, dropped: failed };
    },
  );

  app.post(
    '/integration-templates/:id/revisions/diff',
    {
      config: { role: 'editor', unaudited: true },
      schema: {
        summary: 'Compare two revisions',
        description: 'Runs both over the last retained events of the pipeline.',
        tags,
        params: IdParams,
        body: Body(
          {
            from: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
            to: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
            pipeline_id: Type.String({ minLength: 1 }),
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
          },
          [],
          { examples: [{ from: 1, to: 2, pipeline_id: 'pl_01jv0g3m5w8k2d7c9q4r6t1x0z' }] },
        ),
        response: {
          200: Type.Object({
            compared: Type.Integer(),
            changed: Type.Integer(),
            dropped_by_to: Type.Integer(),
            examples: Type.Array(Type.Object({ event_id: Type.String(), before: Type.Unknown(), after: Type.Unknown() }), {
              description: 'At most 10, of 2 MB together.',
            }),
          }),
        },
      },
    },
    async ({ params, body, user }) => {
      const template = await findTemplate(db, user.org_id, params.id);
      if (template === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration template.' });
      const parameters = await parametersOf(user.org_id, body.pipeline_id);
      const org = await organisationKey(db, user.org_id);
      const revision = async (field: 'from' | 'to') => {
        const stored = await findRevision(db, user.org_id, template.id, body[field]);
        if (stored === undefined) throw invalid(field, 'is no revision of the template');
        const config = openStored(context, org, stored);
        // Stored by an earlier version, it may exceed a budget.
        const { excess } = await prepareConfiguration(config);
        if (excess !== undefined) throw invalid(field, excess.message);
        return await rehearsalOf(template.vendor, config, parameters, field);
      };
      return await diffRevisions(log, body.pipeline_id, body.limit ?? 100, clock.now(), await revision('from'), await revision('to'));
    },
  );

  app.post(
    '/pipelines/:id/integrations/:integration_id/test',
    {
      config: { role: 'editor', anyJson: true, unaudited: true },
      schema: {
        summary: 'Send a test event',
        description:
          "Really sends one event to the vendor, once, without filter or consent gate. With `test_mode` it is sent in the vendor's test mode, whatever the integration's config says: see `test_mode` of the catalog.",
        tags,
        params: IntegrationParams,
        body: Body(
          {
            event: EventBody,
            ...TestMode,
          },
          [],
          { examples: [{ event: EXAMPLE_EVENT }, { event: EXAMPLE_EVENT, test_mode: true }] },
        ),
        response: { 200: TestResult },
      },
    },
    async ({ params, body, user }) => {
      const integration = await requireIntegration(db, user.org_id, params);
      const compiled = snapshots.current().integrations.get(integration.id);
      if (compiled === undefined)
        throw new ApiError('UNAVAILABLE', { message: 'The integration is not loaded yet: try again in a moment.', retryAfterS: 1 });
      // A fresh id each time: vendors drop an id that they have seen, and a second test would seem lost.
      const event = eventOf({ event_id: randomUUID(), ...body.event });
      if (body.test_mode !== true) return await trialDelivery({ sender, clock }, compiled, event);
      const definition = await requireVendor(integration.vendor);
      return await trialDelivery({ sender, clock }, await inTestMode(compiled, definition, body.test_code, urlRules(context)), event);
    },
  );

  app.post(
    '/integration-catalog/:vendor/test',
    {
      config: { role: 'editor', anyJson: true },
      schema: {
        summary: 'Test a config before it is installed',
        description:
          "Really sends one event to the vendor, once, as an integration with this config would. Nothing is stored but an entry in the audit log. `config` is merged over the variant's defaults, as an install does; a config that cannot be sent with is a 422.",
        tags,
        params: VendorParams,
        body: Body(
          {
            variant: Type.Optional(Type.String({ minLength: 1, maxLength: 100, default: 'default', description: 'Key of the variant.' })),
            config: Type.Optional(VendorConfig),
            pipeline_id: Type.Optional(
              Type.String({ minLength: 1, maxLength: 100, description: 'The pipeline whose parameters the config uses.' }),
            ),
            event: EventBody,
            ...TestMode,
          },
          [],
          { examples: [{ config: { url: 'https://hooks.example/in' }, event: EXAMPLE_EVENT }] },
        ),
        response: { 200: TestResult },
      },
    },
    async ({ params, body, user }) => {
      const definition = await requireEntry(params.vendor);
      const opened = await parametersOf(user.org_id, body.pipeline_id);
      const {
        config: substituted,
        missing,
        excess,
      } = substitute(installedConfig(definition, body).config, opened.parameters, jsonTemplateFields(definition));
      if (excess !== undefined) throw invalid('config', excess);
      if (missing.length > 0) throw invalid('pipeline_id', `must be a pipeline with the parameters ${missing.join(', ')}`);
      const config = body.test_mode === true ? withTestMode(substituted, definition, body.test_code) : substituted;
      const secrets = [...secretValues(definition, config), ...secretParameterValues(opened.parameters, opened.sealed)];
      await prepareConfiguration(config);
      const compiled = await compileTrial(definition, config, secrets, urlRules(context));
      if (compiled.faults.length > 0)
        throw invalidFields(compiled.faults.map(({ field, message }) => ({ field: below('config', field), message })));
      // The config chooses the destination, and may send it the pipeline's secret parameters.
      await context.write(user, 'vendor.tested', async (_tx, change) =>
        change.audit({ id: definition.key, after: definedOf({ variant: body.variant, pipeline_id: body.pipeline_id }) }),
      );
      const event = eventOf({ event_id: randomUUID(), ...body.event });
      return await trialDelivery({ sender, clock }, { ...compiled, secrets, integration: { delivery_mode: 'server_side' } }, event);
    },
  );

  app.post(
    '/pipelines/:id/integrations/:integration_id/replay',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Replay history',
        description:
          'Delivers retained processed events once more to this one integration, through its pinned revision. Its event filter and consent category apply as always, so fewer may be sent than `replayed` counts. A disabled or client-side integration is a conflict, unless it is a dry run.',
        tags,
        params: IntegrationParams,
        body: Body(
          {
            from: TimeQuery('The first moment of processing that counts.'),
            to: TimeQuery('The last moment.'),
            event_names: Type.Optional(
              Type.Array(Type.String({ maxLength: MAX_NAME_LENGTH }), {
                maxItems: 1_000,
                description: 'Names of track events, @page, @identify, @group. An empty list means every event.',
              }),
            ),
            event_ids: Type.Optional(
              Type.Array(Type.String({ minLength: 1, maxLength: MAX_MESSAGE_ID_LENGTH }), {
                maxItems: 1_000,
                description: 'Only these events of the time.',
              }),
            ),
            dry_run: Type.Optional(Type.Boolean()),
          },
          [],
          { examples: [{ from: '2026-05-01T00:00:00.000Z', to: '2026-05-02T00:00:00.000Z', dry_run: true }] },
        ),
        response: { 202: Type.Object({ replayed: Type.Integer() }) },
      },
    },
    async ({ params, body, user }, reply) => {
      const integration = await requireIntegration(db, user.org_id, params);
      const { from, to, event_names, event_ids, dry_run = false } = body;
      const moments = timeRange({ from, to });
      if (!integration.enabled && !dry_run)
        throw new ApiError('CONFLICT', { message: 'The integration is disabled: enable it first, or nothing would be sent.' });
      if (integration.delivery_mode === 'client_side' && !dry_run)
        throw new ApiError('CONFLICT', { message: 'The integration runs in the browser (client_side): nothing would be sent.' });
      await context.write(user, 'integration.replayed', async (_tx, change) =>
        change.audit({ id: integration.id, after: { from, to, dry_run, ...definedOf({ event_names, event_ids }) } }),
      );
      const range = {
        pipeline_id: integration.pipeline_id,
        integration_id: integration.id,
        from: new Date(moments.from),
        // The log's ranges end before their last moment.
        to: new Date(moments.to + 1),
        dry_run,
      };
      const replayed = await replayHistory(log, { ...range, ...definedOf({ event_names, event_ids }) });
      ephemeral.publish(REPLAY_CHANNEL, {});
      return reply.code(202).send({ replayed });
    },
  );

  async function parametersOf(orgId: string, pipelineId: string | undefined): Promise<OpenParameters> {
    if (pipelineId === undefined) return { parameters: {}, sealed: [] };
    const pipeline = await requirePipeline(db, orgId, pipelineId);
    return (await readParameters(db, cipher, orgId, pipeline.id)) ?? { parameters: {}, sealed: [] };
  }
  async function rehearsalOf(vendor: string, config: JsonObject, opened: OpenParameters, at = 'config'): Promise<Rehearse> {
    const options = { ...urlRules(context), sealed: opened.sealed };
    const compiled = await finishInTurns(compileRehearsalInSteps(await requireVendor(vendor), config, opened.parameters, options));
    if (compiled.ok) return compiled.rehearse;
    throw invalidFields(compiled.faults.map(({ field, message }) => ({ field: below(at, field), message })));
  }
  function eventOf(event: object): CanonicalEvent {
    return { event_id: 'preview', timestamp: new Date(clock.now()).toISOString(), context: {}, ...event } as CanonicalEvent;
  }
}
