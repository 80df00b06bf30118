import { type Revision, revision as revisionResource } from '@firsthand/core/config/revision.ts';
import { template as resource, type Template } from '@firsthand/core/config/template.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { ApiError } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { inTurns, turns } from '../../../runtime/turns.ts';
import type { KeyedOrganisation } from '../../../secrets/cipher.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import { findRevision, latestRevision, listRevisions, type StoredRevision } from '../../../stores/config/revisions.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { deleteTemplate, findTemplate, listTemplates, pipelinesUsing, updateTemplate } from '../../../stores/config/templates.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { checkConfig, openStored, requireVendor, toRevision, withoutMasks, withStoredSecrets } from '../integration-config.ts';
import { TemplateAndRevision, TemplateCreate, TemplateWithUse } from '../integration-schema.ts';
import { addRevision, writeTemplate } from '../template-writes.ts';

const tags = ['Integration templates'];
/** How far a secret is searched that the latest revision no longer has: the search holds up other changes. At least the latest is read. */
const SEARCHED_REVISIONS = 100;
const SEARCHED_CHARACTERS = 20_000_000;
/** Pipelines that a refusal names. */
const NAMED_PIPELINES = 20;
const Empty = Type.Null({ description: 'No content.' });

export function templateRoutes(app: AdminApp, context: AdminContext): void {
  const { db } = context;

  app.get(
    '/integration-templates',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List templates',
        tags,
        querystring: Type.Object({ search: Type.Optional(Type.String()), vendor: Type.Optional(Type.String()), ...PageQuery }),
        response: { 200: ListOf('templates', resource.response) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { rows, total } = await listTemplates(db, user.org_id, query, page);
      return { templates: rows, total, ...page };
    },
  );

  app.post(
    '/integration-templates',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Create a template',
        description: 'With its revision 1. Required fields may still be missing; they are asked for when it is assigned to a pipeline.',
        tags,
        body: TemplateCreate,
        response: { 201: TemplateAndRevision },
      },
    },
    async ({ body, user }, reply) => {
      const vendor = await requireVendor(body.vendor);
      const mode = body.delivery_mode ?? 'server_side';
      const config = withoutMasks(vendor, body.config as JsonObject);
      await checkConfig(context, vendor, config, mode);
      const created = await writeTemplate(context, user, 'template.created', {
        vendor,
        config,
        delivery_mode: mode,
        name: body.name,
        description: body.description ?? '',
        catalog: null,
        change_summary: body.change_summary ?? 'Initial setup',
      });
      return reply.code(201).send(created);
    },
  );

  app.get(
    '/integration-templates/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read a template', tags, params: IdParams, response: { 200: TemplateWithUse } } },
    async ({ params, user }) => {
      const template = found(await findTemplate(db, user.org_id, params.id));
      const latest = found(await latestRevision(db, user.org_id, template.id));
      return {
        ...template,
        latest_revision: await shown(user.org_id, template, latest),
        used_by: await pipelinesUsing(db, user.org_id, template.id),
      };
    },
  );

  app.put(
    '/integration-templates/:id',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Rename or describe a template',
        description:
          'Its configuration changes by a new revision. With `If-Match: <updated_at>` the change is rejected if somebody else changed the template in the meantime.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: resource.update,
        response: { 200: resource.response },
      },
    },
    ({ params, body, user, headers }) =>
      context.write(user, 'template.updated', async (tx, change) => {
        const before = found(await findTemplate(tx, user.org_id, params.id));
        requireUnchanged(headers['if-match'], before.updated_at, 'The template');
        const after = await updateTemplate(tx, user.org_id, before.id, body, change.stamp);
        change.audit({ id: before.id, before, after });
        return after;
      }),
  );

  app.delete(
    '/integration-templates/:id',
    {
      config: { role: 'admin', errors: ['CONFLICT'] },
      schema: {
        summary: 'Delete a template',
        description: 'Refused while a pipeline uses it.',
        tags,
        params: IdParams,
        response: { 204: Empty },
      },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'template.deleted', async (tx, change) => {
        const before = found(await findTemplate(tx, user.org_id, params.id));
        const users = await pipelinesUsing(tx, user.org_id, before.id);
        if (users.length > 0) throw new ApiError('CONFLICT', { message: `The template is in use by ${firstOf(users)}.` });
        await deleteTemplate(tx, user.org_id, before.id, change.stamp);
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/integration-templates/:id/revisions',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List revisions',
        tags,
        params: IdParams,
        querystring: Type.Object(PageQuery),
        response: { 200: ListOf('revisions', revisionResource.response) },
      },
    },
    async ({ params, query, user }) => {
      const template = found(await findTemplate(db, user.org_id, params.id));
      const page = pageOf(query);
      const { rows, total } = await listRevisions(db, user.org_id, template.id, page);
      const org = await organisationKey(db, user.org_id);
      const revisions = await inTurns(rows, (row) => toRevision(context, org, template.vendor, row));
      return { revisions, total, ...page };
    },
  );

  app.post(
    '/integration-templates/:id/revisions',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Add a revision',
        description:
          'Immutable once made. A mask in place of a secret keeps the stored one: of the revision before, or of the latest earlier one that it fits, among the newest 100 (20 MB). With `If-Match: <revision number>` it is rejected if that is no longer the latest revision.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The number of the latest revision that was read.', '3'),
        body: revisionResource.create,
        response: { 201: revisionResource.response },
      },
    },
    async ({ params, body, user, headers }, reply) => {
      const revision = await context.write(user, 'revision.created', async (tx, change) => {
        const template = found(await findTemplate(tx, user.org_id, params.id));
        const vendor = await requireVendor(template.vendor);
        const last = found(await latestRevision(tx, user.org_id, template.id));
        requireUnchanged(headers['if-match'], last.revision_number, 'The template');
        const org = await organisationKey(tx, user.org_id);
        const config = await withStoredSecrets(vendor, body.config as JsonObject, newestFirst(tx, template, org));
        const mode = body.delivery_mode ?? last.delivery_mode;
        await checkConfig(context, vendor, config, mode);
        const made = await addRevision(context, tx, user, change, {
          template,
          revision_number: last.revision_number + 1,
          vendor,
          config,
          delivery_mode: mode,
          change_summary: body.change_summary ?? '',
        });
        change.audit({ id: made.id, before: await toRevision(context, org, template.vendor, last), after: made });
        return made;
      });
      return reply.code(201).send(revision);
    },
  );

  app.get(
    '/integration-templates/:id/revisions/:number',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Read a revision',
        tags,
        params: Type.Object({ id: Type.String(), number: Type.String() }),
        response: { 200: revisionResource.response },
      },
    },
    async ({ params, user }) => {
      const template = found(await findTemplate(db, user.org_id, params.id));
      const number = /^[1-9]\d{0,8}$/.test(params.number) ? Number(params.number) : 0;
      const revision = await findRevision(db, user.org_id, template.id, number);
      if (revision === undefined) throw new ApiError('NOT_FOUND', { message: 'The template has no such revision.' });
      return await shown(user.org_id, template, revision);
    },
  );

  /** The opened configs of the template's newest revisions. */
  async function* newestFirst(tx: Db, template: Template, org: KeyedOrganisation): AsyncGenerator<JsonObject> {
    let characters = 0;
    for (let read = 0; read < SEARCHED_REVISIONS && characters < SEARCHED_CHARACTERS; ) {
      const page = { limit: SEARCHED_REVISIONS - read, offset: read };
      const { rows } = await listRevisions(tx, template.org_id, template.id, page);
      if (rows.length === 0) return;
      read += rows.length;
      for (const row of rows) {
        await turns.bulk();
        characters += row.config.length + (row.secrets?.length ?? 0);
        yield openStored(context, org, row);
      }
    }
  }
  async function shown(orgId: string, template: Template, revision: StoredRevision, from: Db = db): Promise<Revision> {
    return toRevision(context, await organisationKey(from, orgId), template.vendor, revision);
  }
}

function firstOf(pipelines: readonly string[]): string {
  const more = pipelines.length - NAMED_PIPELINES;
  return `${pipelines.slice(0, NAMED_PIPELINES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The template, or its newest revision, which every template has. */
function found<T extends Template | StoredRevision>(row: T | undefined): T {
  if (row === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such integration template.' });
  return row;
}
