import { randomBytes } from 'node:crypto';
import { Closed, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { type PublicWebhookSource, webhookSource as resource, type WebhookSourceFields } from '@firsthand/core/config/webhook-source.ts';
import { ApiError, invalid, invalidFields } from '../../../http/errors.ts';
import { ingestOrigin } from '../../../http/public-origin.ts';
import { IdParams, IdsQuery, idsOf, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { needsSecret } from '../../../snapshot/source-connection.ts';
import { PROVIDERS, validateWebhookSource } from '../../../snapshot/webhook-source.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import type { Db } from '../../../stores/config/schema.ts';
import {
  countBrokerSources,
  deleteWebhookSource,
  findWebhookSource,
  insertWebhookSource,
  listWebhookSources,
  updateWebhookSource,
} from '../../../stores/config/webhook-sources.ts';
import { readHealth } from '../../../stores/observe/dead-letters.ts';
import { type AdminApp, type AdminContext, roleReaches } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Webhook sources'];
const SourceWithSecret = named(
  'WebhookSourceWithSecret',
  Closed({ ...resource.response.properties, signing_secret: Type.String({ description: 'Shown only in this response.' }) }),
);
const Secret = Type.Optional(
  Type.String({ minLength: 1, maxLength: 1_000, description: 'Generated when omitted. Writing a mask back keeps the stored secret.' }),
);
const Status = named(
  'WebhookSourceStatus',
  Closed({
    state: OneOf(['listening', 'stopped', 'connecting', 'running', 'failing'], {
      description:
        '`listening`: a webhook source, which waits for calls. The others belong to brokers. `stopped`: no process reads it, because the source or its pipeline is disabled, or because no process with the role ingest runs.',
    }),
    lag: Nullable(Type.Integer({ minimum: 0, description: 'Messages that wait at the broker; null where it is not known.' })),
    last_error: Nullable(Type.String({ description: 'Why the last attempt failed; null while it works.' })),
    last_message_at: Nullable(Timestamp),
    last_received_at: Nullable({ ...Timestamp, description: 'When the newest event of the source was received; known within seconds.' }),
  }),
);
const UNKNOWN = { webhook_source_id: '', state: 'stopped', lag: null, last_error: null, last_message_at: null } as const;
/** Each holds a connection of the process that reads it. */
const MAX_BROKER_SOURCES = 100;
const SECRET_NEEDED = 'is required: the password, token or secret key for the broker';
const Create = { ...resource.create, properties: { ...resource.create.properties, signing_secret: Secret } };
const Update = { ...resource.update, properties: { ...resource.update.properties, signing_secret: Secret } };

export function webhookSourceRoutes(app: AdminApp, context: AdminContext): void {
  const { db, cipher, clock } = context;
  const withUrl = (source: PublicWebhookSource, origin: string) => ({
    ...source,
    url: source.kind === 'webhook' ? `${origin}/v1/webhook?source=${source.id}` : '',
  });

  app.get(
    '/webhook-sources',
    {
      config: { role: 'viewer', errors: ['CONFLICT'] },
      schema: {
        summary: 'List webhook sources',
        description: 'Newest first.',
        tags,
        querystring: Type.Object({
          pipeline_id: Type.Optional(Type.String()),
          search: Type.Optional(Type.String({ description: 'Part of the name, in any case.' })),
          ids: Type.Optional(IdsQuery('Only these sources.')),
          ...PageQuery,
        }),
        response: { 200: ListOf('webhook_sources', resource.response) },
      },
    },
    async (request) => {
      const page = pageOf(request.query);
      const origin = ingestOrigin(context.settings, request);
      const filter = { ...request.query, ids: idsOf('ids', request.query.ids) };
      const { rows, total } = await listWebhookSources(db, request.user.org_id, filter, page);
      return { webhook_sources: rows.map((row) => withUrl(row, origin)), total, ...page };
    },
  );

  app.post(
    '/webhook-sources',
    {
      config: { role: 'editor', errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        summary: 'Add a webhook source',
        description:
          'The signing secret is generated when omitted, and is shown only in this response. At most 100 in an organisation may read from a broker.',
        tags,
        body: Create,
        response: { 201: SourceWithSecret },
      },
    },
    async (request, reply) => {
      const { user, body } = request;
      const origin = ingestOrigin(context.settings, request);
      const { signing_secret = newSecret(), ...sent } = body;
      const fields: WebhookSourceFields = { ...resource.defaults, provider: PROVIDERS[sent.source_type], ...sent };
      if (isMask(signing_secret)) throw invalid('signing_secret', 'is a mask without a stored secret: send the secret itself');
      check(fields, signing_secret);
      if (needsSecret(fields) && body.signing_secret === undefined) throw invalid('signing_secret', SECRET_NEEDED);
      const created = await context.write(user, 'webhook_source.created', async (tx, change) => {
        await requirePipeline(tx, user.org_id, fields.pipeline_id);
        if (fields.kind !== 'webhook') await requireRoom(tx, user.org_id);
        const made = await insertWebhookSource(
          tx,
          { id: newId('whs', clock.now()), org_id: user.org_id },
          fields,
          await sealed(tx, user.org_id, signing_secret),
          change.stamp,
        );
        change.audit({ id: made.id, after: made });
        return made;
      });
      return reply.code(201).send({ ...withUrl(created, origin), signing_secret });
    },
  );

  app.get(
    '/webhook-sources/:id',
    {
      config: { role: 'viewer', errors: ['CONFLICT'] },
      schema: { summary: 'Read a webhook source', tags, params: IdParams, response: { 200: resource.response } },
    },
    async (request) =>
      withUrl(found(await findWebhookSource(db, request.user.org_id, request.params.id)), ingestOrigin(context.settings, request)),
  );

  app.put(
    '/webhook-sources/:id',
    {
      config: { role: 'editor', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change a webhook source',
        description: 'A new `signing_secret` needs the role admin, as rotate-secret does. The mask of the stored one keeps it.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: Update,
        response: { 200: resource.response },
      },
    },
    async (request) => {
      const { user, params, headers } = request;
      const origin = ingestOrigin(context.settings, request);
      const { signing_secret: given, ...sent } = request.body;
      // Writing a mask back keeps the stored secret.
      const secret = given !== undefined && isMask(given) ? undefined : given;
      if (secret !== undefined && !roleReaches(user.role, 'admin'))
        throw new ApiError('FORBIDDEN', { message: `A new signing_secret needs the role admin; yours is ${user.role}.` });
      const updated = await context.write(user, 'webhook_source.updated', async (tx, change) => {
        const before = found(await findWebhookSource(tx, user.org_id, params.id));
        requireUnchanged(headers['if-match'], before.updated_at, 'The source');
        // A new source type brings its own provider unless the body names one.
        const provider = sent.provider ?? (sent.source_type === undefined ? before.provider : PROVIDERS[sent.source_type]);
        const fields = { ...sent, provider };
        check({ ...before, ...fields }, secret);
        // The secret of another kind, or one that was generated, opens nothing at this broker.
        if (needsSecret({ ...before, ...fields }) && !needsSecret(before) && secret === undefined)
          throw invalid('signing_secret', SECRET_NEEDED);
        if (sent.pipeline_id !== undefined) await requirePipeline(tx, user.org_id, sent.pipeline_id);
        if (before.kind === 'webhook' && (fields.kind ?? 'webhook') !== 'webhook') await requireRoom(tx, user.org_id);
        const after = await updateWebhookSource(
          tx,
          before,
          fields,
          secret === undefined ? undefined : await sealed(tx, user.org_id, secret),
          change.stamp,
        );
        if ((before.enabled && !after.enabled) || secret !== undefined) change.urgent();
        change.audit({ id: before.id, before, after: secret === undefined ? after : { ...after, signing_secret: '••••' } });
        return after;
      });
      return withUrl(updated, origin);
    },
  );

  app.get(
    '/webhook-sources/:id/status',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Read the status of a source',
        description:
          'When the last event came, and for brokers whether the service reads from them, how many messages wait there, and the last error.',
        tags,
        params: IdParams,
        response: { 200: Status },
      },
    },
    async ({ params, user }) => {
      const source = found(await findWebhookSource(db, user.org_id, params.id));
      const { webhook_source_id: _id, ...status } = context.operations.sourceStatus(source.id) ?? UNKNOWN;
      const received = (await readHealth(context.operations.observe, [source.id])).get(source.id)?.last_success_at ?? null;
      const last_received_at = received === null ? null : new Date(received).toISOString();
      return { ...status, last_received_at, state: source.kind === 'webhook' ? ('listening' as const) : status.state };
    },
  );

  app.delete(
    '/webhook-sources/:id',
    {
      config: { role: 'admin' },
      schema: { summary: 'Delete a webhook source', tags, params: IdParams, response: { 204: Type.Null({ description: 'No content.' }) } },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'webhook_source.deleted', async (tx, change) => {
        const before = found(await findWebhookSource(tx, user.org_id, params.id));
        await deleteWebhookSource(tx, user.org_id, before.id);
        change.urgent();
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/webhook-sources/:id/rotate-secret',
    {
      config: { role: 'admin', errors: ['CONFLICT'] },
      schema: {
        summary: 'Replace the signing secret',
        description: 'The old secret is invalid at once. To set a secret that the sender gave you, use PUT.',
        tags,
        params: IdParams,
        response: { 200: SourceWithSecret },
      },
    },
    async (request) => {
      const { user, params } = request;
      const origin = ingestOrigin(context.settings, request);
      const signing_secret = newSecret();
      const rotated = await context.write(user, 'webhook_source.secret_rotated', async (tx, change) => {
        const before = found(await findWebhookSource(tx, user.org_id, params.id));
        if (before.kind !== 'webhook')
          throw new ApiError('CONFLICT', { message: 'The broker sets this secret: send the new one with PUT.' });
        const after = await updateWebhookSource(tx, before, {}, await sealed(tx, user.org_id, signing_secret), change.stamp);
        change.urgent();
        change.audit({ id: before.id, changes: { signing_secret: { old: '••••', new: '••••' } } });
        return after;
      });
      return { ...withUrl(rotated, origin), signing_secret };
    },
  );

  async function sealed(tx: Db, orgId: string, secret: string): Promise<string> {
    return cipher.sealText(await organisationKey(tx, orgId), secret);
  }
}

async function requireRoom(tx: Db, orgId: string): Promise<void> {
  if ((await countBrokerSources(tx, orgId)) >= MAX_BROKER_SOURCES)
    throw new ApiError('CONFLICT', {
      message: `An organisation has at most ${MAX_BROKER_SOURCES} sources that read from a broker: delete some first.`,
    });
}
function check(fields: WebhookSourceFields, secret: string | undefined): void {
  const faults = validateWebhookSource({ ...fields, ...(secret === undefined ? {} : { signing_secret: secret }) });
  if (faults.length > 0) throw invalidFields(faults);
}
function found(source: PublicWebhookSource | undefined): PublicWebhookSource {
  if (source === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such webhook source.' });
  return source;
}
function isMask(secret: string): boolean {
  return secret.startsWith('••••');
}
/** In the form of Standard Webhooks; the other schemes take it as plain text. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
