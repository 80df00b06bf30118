import { isDeepStrictEqual } from 'node:util';
import { type Integration, integration as resource } from '@firsthand/core/config/integration.ts';
import type { Template } from '@firsthand/core/config/resources.ts';
import { Closed, named } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Static } from 'typebox';
import { ApiError, invalid, invalidFields } from '../../../http/errors.ts';
import { IdParams, IdsQuery, idsOf, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { integrationHealth } from '../../../operations/health.ts';
import { newId } from '../../../runtime/ids.ts';
import {
  deleteIntegration,
  findIntegration,
  insertIntegration,
  listAllIntegrations,
  listIntegrations,
  updateIntegration,
} from '../../../stores/config/integrations.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import { findPipeline, pipelineExists } from '../../../stores/config/pipelines.ts';
import { findRevision, latestNumbers, latestRevision, type StoredRevision } from '../../../stores/config/revisions.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { findTemplate } from '../../../stores/config/templates.ts';
import { permitted } from '../auth/pipeline-scope.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { checkConfig, missingFields, openStored, requireVendor, toRevision, withoutMasks } from '../integration-config.ts';
import { IntegrationUpdate, OneStepCreate, OneStepIntegration } from '../integration-schema.ts';
import { createTemplate, initialSetup, withDefaultMappings } from '../template-writes.ts';

const tags = ['Pipeline integrations'];
export const IntegrationParams = Type.Object({ id: Type.String(), integration_id: Type.String() });
const ListedIntegration = named(
  'ListedIntegration',
  Closed({ ...resource.response.properties, pipeline_name: Type.String({ description: 'The name of its pipeline.' }) }),
);
const AllQuery = Type.Object({
  search: Type.Optional(Type.String({ description: 'Part of the name, in any case.' })),
  vendor: Type.Optional(Type.String({ description: 'Catalog key of the vendor.' })),
  template_id: Type.Optional(Type.String({ description: 'Those that deliver with this template.' })),
  pipeline_ids: Type.Optional(IdsQuery('Those of these pipelines.')),
  ids: Type.Optional(IdsQuery('Only these integrations.')),
  ...PageQuery,
});

export function integrationRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;

  app.get(
    '/pipelines/:id/integrations',
    {
      config: { role: 'viewer' },
      schema: {
        summary: "List a pipeline's integrations",
        tags,
        params: IdParams,
        querystring: Type.Object(PageQuery),
        response: { 200: ListOf('integrations', resource.response) },
      },
    },
    async ({ params, query, user }) => {
      const page = pageOf(query);
      if (!(await pipelineExists(db, user.org_id, params.id))) throw noPipeline();
      const { rows, total } = await listIntegrations(db, user.org_id, params.id, page);
      return { integrations: await shown(rows), total, ...page };
    },
  );

  app.post(
    '/pipelines/:id/integrations',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Assign a template to a pipeline',
        description:
          'Pins the given revision, or the latest. The integration receives events from now on; a history replay fetches earlier ones.',
        tags,
        params: IdParams,
        body: resource.create,
        response: { 201: resource.response },
      },
    },
    async ({ params, body, user }, reply) => {
      const { template_id, revision_number, ...input } = body;
      const created = await context.write(user, 'integration.created', async (tx, change) => {
        const pipeline = await requirePipeline(tx, user.org_id, params.id);
        const template = await requireTemplate(tx, user.org_id, template_id);
        const revision = await requireRevision(tx, template, revision_number);
        await requireComplete(tx, template, revision);
        const integration = await insertIntegration(
          tx,
          { id: newId('int', clock.now()), org_id: user.org_id, pipeline_id: pipeline.id, template_id: template.id },
          { ...resource.defaults, name: template.name, ...input, revision_number: revision.revision_number },
          change.stamp,
        );
        change.audit({ id: integration.id, after: integration });
        return integration;
      });
      return reply.code(201).send(await shownOne(created));
    },
  );

  app.get(
    '/pipelines/:id/integrations/:integration_id',
    {
      config: { role: 'viewer' },
      schema: { summary: 'Read an integration', tags, params: IntegrationParams, response: { 200: resource.response } },
    },
    async ({ params, user }) => shownOne(await requireIntegration(db, user.org_id, params)),
  );

  app.put(
    '/pipelines/:id/integrations/:integration_id',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change an integration',
        description: 'A new `revision_number` moves the pin, forward or back.',
        tags,
        params: IntegrationParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: IntegrationUpdate,
        response: { 200: resource.response },
      },
    },
    async ({ params, body: { config, ...body }, user, headers }) => {
      const updated = await context.write(user, 'integration.updated', async (tx, change) => {
        const before = await requireIntegration(tx, user.org_id, params);
        requireUnchanged(headers['if-match'], before.updated_at, 'The integration');
        if (config !== undefined) await requireShownConfig(tx, before, body.revision_number, config);
        if (body.revision_number !== undefined && body.revision_number !== before.revision_number) {
          const template = await requireTemplate(tx, user.org_id, before.template_id);
          await requireComplete(tx, template, await requireRevision(tx, template, body.revision_number));
        }
        const after = await updateIntegration(tx, before, body, change.stamp);
        if (before.enabled && !after.enabled) change.urgent();
        change.audit({ id: before.id, before, after });
        return after;
      });
      return await shownOne(updated);
    },
  );

  app.delete(
    '/pipelines/:id/integrations/:integration_id',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'Remove an integration',
        description: 'Its waiting events are dropped with the reason `integration_deleted`.',
        tags,
        params: IntegrationParams,
        response: { 204: Type.Null({ description: 'No content.' }) },
      },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'integration.deleted', async (tx, change) => {
        const before = await requireIntegration(tx, user.org_id, params);
        await deleteIntegration(tx, user.org_id, before.pipeline_id, before.id, change.stamp);
        change.urgent();
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/integrations',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List the integrations of all pipelines',
        description: 'Oldest first. An API token with `pipeline_ids` sees only those of its pipelines.',
        tags,
        querystring: AllQuery,
        response: { 200: ListOf('integrations', ListedIntegration) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const ids = idsOf('ids', query.ids);
      const pipeline_ids = permitted(user, idsOf('pipeline_ids', query.pipeline_ids));
      const { rows, total } = await listAllIntegrations(db, user.org_id, { ...query, ids, pipeline_ids }, page);
      return { integrations: await shown(rows), total, ...page };
    },
  );

  app.post(
    '/integrations',
    {
      config: { role: 'editor', errors: ['NOT_FOUND'] },
      schema: {
        summary: 'Set up an integration in one step',
        description:
          "Creates a template, its revision 1 and its assignment to the pipeline `source_id` in one transaction. A config without any mapping of its own (`global`, `events`, `defaults`, `steps`, `version`) starts with the mappings of the vendor's default variant, as an install does.",
        tags,
        body: OneStepCreate,
        response: { 201: OneStepIntegration },
      },
    },
    async ({ body, user }, reply) => {
      const { integration, config } = await context.write(user, 'integration.created', async (tx, change) => {
        const made = await oneStep(tx, user, change, body);
        change.audit({ id: made.integration.id, after: { ...made.integration, config: made.config } });
        return made;
      });
      return reply.code(201).send({ ...(await shownOne(integration)), source_id: integration.pipeline_id, config });
    },
  );

  async function oneStep(
    tx: Db,
    user: Parameters<typeof createTemplate>[2],
    change: Parameters<typeof createTemplate>[3],
    body: Static<typeof OneStepCreate>,
  ) {
    const { source_id, vendor: vendorKey, config: sent, delivery_mode = 'server_side', name, ...input } = body;
    const vendor = await requireVendor(vendorKey);
    const { config, variant } = withDefaultMappings(vendor, withoutMasks(vendor, sent as JsonObject));
    await checkConfig(context, vendor, config, delivery_mode, { complete: true });
    const pipeline = await requirePipeline(tx, user.org_id, source_id);
    const { template, revision } = await createTemplate(context, tx, user, change, {
      vendor,
      config,
      delivery_mode,
      name,
      description: '',
      catalog: variant === null ? null : { vendor: vendor.key, variant },
      change_summary: variant === null ? 'Initial setup' : initialSetup(vendor, variant),
    });
    const integration = await insertIntegration(
      tx,
      { id: newId('int', clock.now()), org_id: user.org_id, pipeline_id: pipeline.id, template_id: template.id },
      { ...resource.defaults, ...input, name, revision_number: 1 },
      change.stamp,
    );
    return { integration, config: revision.config };
  }

  async function requireComplete(tx: Db, template: Template, revision: StoredRevision): Promise<void> {
    const org = await organisationKey(tx, template.org_id);
    const faults = await missingFields(context, await requireVendor(template.vendor), openStored(context, org, revision));
    if (faults.length > 0) throw invalidFields(faults.map(({ field, message }) => ({ field: `config.${field}`, message })));
  }

  /** The config of the revision that is pinned, or of the one to pin: a client may hold either. */
  async function requireShownConfig(tx: Db, before: Integration, next: number | undefined, sent: object): Promise<void> {
    const template = await requireTemplate(tx, before.org_id, before.template_id);
    const org = await organisationKey(tx, before.org_id);
    for (const number of new Set([before.revision_number, next ?? before.revision_number])) {
      const shown = await toRevision(context, org, template.vendor, await requireRevision(tx, template, number));
      if (isDeepStrictEqual(sent, shown.config)) return;
    }
    const revisions = `POST /v1/admin/integration-templates/${template.id}/revisions`;
    throw invalid('config', `cannot be changed here: add a revision (${revisions}) and send its revision_number`);
  }

  /** Adds what is not stored with them. */
  async function shown<T extends Integration>(integrations: T[]) {
    const health = await integrationHealth(context.operations, integrations);
    const latest = await latestNumbers(
      db,
      integrations.map(({ template_id }) => template_id),
    );
    return integrations.map((integration) => {
      const own = health.get(integration.id);
      if (own === undefined) throw new Error(`no health for ${integration.id}`);
      return { ...integration, latest_revision_number: latest.get(integration.template_id) ?? integration.revision_number, health: own };
    });
  }
  async function shownOne(integration: Integration) {
    const [one] = await shown([integration]);
    if (one === undefined) throw new Error('one integration in, none out');
    return one;
  }
}

export async function requirePipeline(db: Db, orgId: string, id: string) {
  const pipeline = await findPipeline(db, orgId, id);
  if (pipeline === undefined) throw noPipeline();
  return pipeline;
}
function noPipeline(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no such pipeline.' });
}

export async function requireIntegration(db: Db, orgId: string, params: Static<typeof IntegrationParams>): Promise<Integration> {
  await requirePipeline(db, orgId, params.id);
  const integration = await findIntegration(db, orgId, params.id, params.integration_id);
  if (integration === undefined) throw new ApiError('NOT_FOUND', { message: 'The pipeline has no such integration.' });
  return integration;
}

async function requireTemplate(tx: Db, orgId: string, id: string): Promise<Template> {
  const template = await findTemplate(tx, orgId, id);
  if (template === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration template.' });
  return template;
}
async function requireRevision(tx: Db, template: Template, number: number | undefined): Promise<StoredRevision> {
  const revision =
    number === undefined
      ? await latestRevision(tx, template.org_id, template.id)
      : await findRevision(tx, template.org_id, template.id, number);
  if (revision === undefined) throw invalid('revision_number', 'is not a revision of the template');
  return revision;
}
