import { Body, Closed, Id, Name, Nullable, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError, invalid } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf, timeOf } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { countApiTokens, deleteApiToken, findApiToken, insertApiToken, listApiTokens } from '../../../stores/config/api-tokens.ts';
import { findPipeline } from '../../../stores/config/pipelines.ts';
import { newApiToken } from '../auth/api-tokens.ts';
import { type AdminApp, type AdminContext, ROLE_ORDER, roleReaches } from '../deps.ts';

const tags = ['API tokens'];
/** Each token has a request rate of its own, so their number limits the rate of an organisation. */
export const MAX_API_TOKENS = 100;
const shown = {
  id: Id('apt'),
  org_id: Id('org'),
  name: Type.String(),
  role: OneOf(ROLE_ORDER),
  pipeline_ids: Nullable(Type.Array(Id('pl'), { description: 'The pipelines it is limited to; null for all.' })),
  token_prefix: Type.String({ description: 'The first eight characters, for identification.', examples: ['fht_9aQx'] }),
  created_by: Id('usr'),
  created_by_email: Type.String({ description: 'The user who made it. It ends with this user.', examples: ['ada@example.com'] }),
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Type.String({ ...Timestamp, description: 'At most a minute late.' })),
  created_at: Timestamp,
};
const Token = Closed(shown);
const TokenWithSecret = Closed({ ...shown, token: Type.String({ description: 'Shown this once.', examples: ['fht_…'] }) });
const Create = Body(
  {
    name: Name(),
    role: OneOf(ROLE_ORDER, { description: "At most the caller's own role." }),
    expires_at: Type.Optional(Nullable(Timestamp)),
    pipeline_ids: Type.Optional(Nullable(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 }))),
  },
  ['id', 'org_id', 'token_prefix', 'created_by', 'created_by_email', 'last_used_at', 'created_at', 'token'],
  { examples: [{ name: 'Deployment', role: 'editor' }] },
);

/** Tokens for machines: used as `Authorization: Bearer fht_…`. Only people manage them. */
export function apiTokenRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;

  app.get(
    '/api-tokens',
    {
      config: { role: 'admin', peopleOnly: true },
      schema: { summary: 'List API tokens', tags, querystring: Type.Object(PageQuery), response: { 200: ListOf('api_tokens', Token) } },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { rows, total } = await listApiTokens(db, user.org_id, page);
      return { api_tokens: rows, total, ...page };
    },
  );

  app.post(
    '/api-tokens',
    {
      config: { role: 'admin', peopleOnly: true, errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        summary: 'Create an API token',
        description:
          'The token is shown only in this response. It ends with the user who made it, or when that user is demoted below its role. With `pipeline_ids` it can only be used on routes that belong to one of these pipelines; `GET /pipelines` and `GET /integrations` list only these and theirs, and `POST /integrations` takes only these as `source_id`. At most 100 in an organisation.',
        tags,
        body: Create,
        response: { 201: TokenWithSecret },
      },
    },
    async ({ body, user }, reply) => {
      if (!roleReaches(user.role, body.role))
        throw new ApiError('FORBIDDEN', { message: `An API token cannot have more than your own role, ${user.role}.` });
      const expires_at = timeOf('expires_at', body.expires_at ?? undefined) ?? null;
      if (expires_at !== null && Date.parse(expires_at) <= clock.now()) throw invalid('expires_at', 'must be in the future');
      const pipeline_ids = body.pipeline_ids ? [...new Set(body.pipeline_ids)] : null;
      const { token, token_hash, token_prefix } = newApiToken();
      const created = await context.write(user, 'api_token.created', async (tx, change) => {
        if ((await countApiTokens(tx, user.org_id)) >= MAX_API_TOKENS)
          throw new ApiError('CONFLICT', { message: `An organisation has at most ${MAX_API_TOKENS} API tokens: revoke some first.` });
        for (const id of pipeline_ids ?? [])
          if ((await findPipeline(tx, user.org_id, id)) === undefined)
            throw new ApiError('NOT_FOUND', { message: `There is no pipeline ${id}.` });
        const made = await insertApiToken(tx, {
          id: newId('apt', clock.now()),
          org_id: user.org_id,
          name: body.name,
          role: body.role,
          pipeline_ids,
          token_hash,
          token_prefix,
          created_by: user.id,
          expires_at,
          created_at: change.stamp.now,
        });
        change.audit({ id: made.id, after: made });
        return made;
      });
      return reply.code(201).send({ ...created, created_by_email: user.email, token });
    },
  );

  app.delete(
    '/api-tokens/:id',
    {
      config: { role: 'admin', peopleOnly: true },
      schema: {
        summary: 'Revoke an API token',
        description: 'It ends at once, on every process.',
        tags,
        params: IdParams,
        response: { 204: Type.Null({ description: 'Revoked' }) },
      },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'api_token.deleted', async (tx, change) => {
        const before = await findApiToken(tx, user.org_id, params.id);
        if (before === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such API token.' });
        await deleteApiToken(tx, user.org_id, before.id);
        change.audit({ id: before.id, before });
      });
      return reply.code(204).send(null);
    },
  );
}
