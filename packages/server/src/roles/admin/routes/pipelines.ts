import { JS_BUILDER_DEFAULTS } from '@firsthand/core/config/collector-settings.ts';
import {
  IDENTITY_DEFAULTS,
  type Pipeline,
  type PipelineFields,
  type PipelineInput,
  pipeline as resource,
} from '@firsthand/core/config/pipeline.ts';
import { Closed, named, OneOf, pick, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { finish } from '@firsthand/core/steps.ts';
import { maskSecret } from '@firsthand/core/vendor/secrets.ts';
import type { Static } from 'typebox';
import { issueChallengeToken } from '../../../http/challenge-token.ts';
import { ApiError, invalid, invalidFields } from '../../../http/errors.ts';
import { IdParams, IdsQuery, idsOf, ListOf, PageQuery, pageOf } from '../../../http/schema.ts';
import { isNetwork } from '../../../network/address-matcher.ts';
import { newId, randomText } from '../../../runtime/ids.ts';
import { deriveKey } from '../../../secrets/keys.ts';
import { isMask, pathText } from '../../../secrets/mask.ts';
import { restoreMaskedInSteps } from '../../../secrets/restore-masked.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import {
  type OpenParameters,
  type Parameters,
  readParameters,
  sealParameters,
  secretParameters,
} from '../../../stores/config/pipeline-parameters.ts';
import {
  deletePipeline,
  findPipeline,
  insertPipeline,
  listPipelines,
  replacePipelineSecret,
  SUMMARY_COLUMNS,
  slugsInUse,
  updatePipeline,
} from '../../../stores/config/pipelines.ts';
import type { Db } from '../../../stores/config/schema.ts';
import { permitted } from '../auth/pipeline-scope.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';
import { freeSlug, slugOf } from '../slug.ts';
import { differences } from '../write.ts';

const tags = ['Pipelines'];
const fields = resource.response.properties;
const Secret = Type.String({ description: 'Shown only in this response.', examples: ['sk_9…'] });
const PipelineWithSecret = named('PipelineWithSecret', Closed({ ...fields, pipeline_key_secret: Secret }));
const PipelineSummary = named('PipelineSummary', Closed(pick(fields, SUMMARY_COLUMNS)));
const RotatedSecret = named(
  'RotatedSecret',
  Closed({
    pipeline_key: fields.pipeline_key,
    pipeline_key_secret: Secret,
    pipeline_key_secret_prefix: fields.pipeline_key_secret_prefix,
  }),
);
const ListQuery = Type.Object({
  search: Type.Optional(Type.String({ description: 'Part of the name or slug, in any case.' })),
  type: Type.Optional(OneOf(['web', 'app', 'server'])),
  label: Type.Optional(Type.String({ description: 'Pipelines with this label.' })),
  enabled: Type.Optional(Type.Boolean()),
  ids: Type.Optional(IdsQuery('Only these pipelines.')),
  ...PageQuery,
});

export function pipelineRoutes(app: AdminApp, context: AdminContext): void {
  const { db, cipher, clock } = context;
  const challengeKey = deriveKey(context.secretKey, 'challenge-token');

  app.get(
    '/pipelines',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List pipelines',
        description: 'Newest first. An API token with `pipeline_ids` sees only these.',
        tags,
        querystring: ListQuery,
        response: { 200: ListOf('pipelines', PipelineSummary) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const ids = permitted(user, idsOf('ids', query.ids));
      const { rows, total } = await listPipelines(db, user.org_id, { ...query, ids }, page);
      return { pipelines: rows, total, ...page };
    },
  );

  app.post(
    '/pipelines',
    {
      config: { role: 'editor', errors: ['DUPLICATE_RESOURCE'] },
      schema: {
        summary: 'Create a pipeline',
        description: 'The secret is shown only in this response. Without a slug, one is made from the name.',
        tags,
        body: resource.create,
        response: { 201: PipelineWithSecret },
      },
    },
    async ({ body, user }, reply) => {
      const secret = newSecret();
      const pipeline = await context.write(user, 'pipeline.created', async (tx, change) => {
        const slug = await slugFor(tx, user.org_id, body);
        const { parameters, parameter_secrets } = await sealedParameters(tx, user.org_id, body.parameters ?? {}, NONE);
        const keys = { pipeline_key: `pk_${randomText(32)}`, ...(await sealed(tx, user.org_id, secret)), parameter_secrets };
        const created = await insertPipeline(
          tx,
          { id: newId('pl', clock.now()), org_id: user.org_id },
          { ...resource.defaults, ...inputOf(body), name: body.name, slug, parameters },
          keys,
          change.stamp,
        );
        change.audit({ id: created.id, after: created });
        return created;
      });
      return reply.code(201).send({ ...pipeline, pipeline_key_secret: secret });
    },
  );

  app.get(
    '/pipelines/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read a pipeline', tags, params: IdParams, response: { 200: resource.response } } },
    async ({ params, user }) => found(await findPipeline(db, user.org_id, params.id)),
  );

  app.put(
    '/pipelines/:id',
    {
      config: { role: 'editor', errors: ['DUPLICATE_RESOURCE', 'CONFLICT'] },
      schema: {
        summary: 'Change a pipeline',
        description:
          'Omitted fields stay as they are. An object that is sent is replaced whole; its missing keys take their defaults. With `If-Match: <updated_at>` the change is rejected if somebody else changed the pipeline in the meantime.',
        tags,
        params: IdParams,
        headers: ifMatchHeader('The `updated_at` that was read.', '2026-05-01T12:00:00.000Z'),
        body: resource.update,
        response: { 200: resource.response },
      },
    },
    ({ params, body, user, headers }) =>
      context.write(user, 'pipeline.updated', async (tx, change) => {
        const before = found(await findPipeline(tx, user.org_id, params.id));
        requireUnchanged(headers['if-match'], before.updated_at, 'The pipeline');
        if (body.slug !== undefined) await requireFreeSlug(tx, user.org_id, body.slug, before.id);
        const stored = body.parameters && (await readParameters(tx, cipher, user.org_id, before.id));
        const sent = body.parameters && (await sealedParameters(tx, user.org_id, body.parameters, stored ?? NONE));
        const after = await updatePipeline(tx, before, { ...inputOf(body), ...sent }, change.stamp);
        if (before.enabled && !after.enabled) change.urgent();
        const changes = differences(before, after);
        // Two secrets may have the same mask. The audit entry must still show that the secret changed.
        if (sent?.replaced) changes.parameters ??= { old: before.parameters, new: after.parameters };
        change.audit({ id: before.id, changes });
        return after;
      }),
  );

  app.delete(
    '/pipelines/:id',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'Delete a pipeline',
        description: 'Its key stops working at once, and its integrations receive no more events.',
        tags,
        params: IdParams,
        response: { 200: Type.Object({ status: OneOf(['deleted']) }) },
      },
    },
    async ({ params, user }): Promise<{ status: 'deleted' }> => {
      await context.write(user, 'pipeline.deleted', async (tx, change) => {
        const before = found(await findPipeline(tx, user.org_id, params.id));
        await deletePipeline(tx, user.org_id, before.id, change.stamp);
        change.urgent();
        change.audit({ id: before.id, before });
      });
      return { status: 'deleted' };
    },
  );

  app.post(
    '/pipelines/:id/rotate-secret',
    {
      config: { role: 'admin' },
      schema: { summary: "Replace a pipeline's secret", tags, params: IdParams, response: { 200: RotatedSecret } },
    },
    async ({ params, user }) => {
      const secret = newSecret();
      return await context.write(user, 'pipeline.secret_rotated', async (tx, change) => {
        const before = found(await findPipeline(tx, user.org_id, params.id));
        const keys = await sealed(tx, user.org_id, secret);
        const after = found(await replacePipelineSecret(tx, user.org_id, before.id, keys, change.stamp));
        change.urgent();
        // The prefix alone would not show a change if both secrets start alike.
        const secrets = { pipeline_key_secret: { old: '••••', new: maskSecret(secret) } };
        change.audit({ id: before.id, changes: { ...secrets, ...differences(before, after) } });
        const { pipeline_key, pipeline_key_secret_prefix } = after;
        return { pipeline_key, pipeline_key_secret: secret, pipeline_key_secret_prefix };
      });
    },
  );

  app.post(
    '/pipelines/:id/tokens',
    {
      config: { role: 'editor', unaudited: true },
      schema: {
        summary: 'Issue a challenge token',
        description: 'For pipelines with `challenge_token_required`. Reusable until it expires.',
        tags,
        params: IdParams,
        response: { 200: Type.Object({ token: Type.String(), expires_at: Timestamp }) },
      },
    },
    async ({ params, user }) => {
      const pipeline = found(await findPipeline(db, user.org_id, params.id));
      const expires = clock.now() + context.settings.challengeTokenTtlMs;
      return { token: issueChallengeToken(challengeKey, pipeline.id, expires), expires_at: new Date(expires).toISOString() };
    },
  );

  async function sealedParameters(tx: Db, orgId: string, sent: Parameters, stored: OpenParameters) {
    const { parameters, replaced, kept } = restored(sent, stored);
    return { ...sealParameters(cipher, await organisationKey(tx, orgId), parameters, kept), replaced };
  }
  async function sealed(tx: Db, orgId: string, secret: string) {
    const org = await organisationKey(tx, orgId);
    return { pipeline_key_secret: cipher.sealText(org, secret), pipeline_key_secret_prefix: secret.slice(0, 4) };
  }
}

const NONE: OpenParameters = { parameters: {}, sealed: [] };

/** Replaces masks with the stored secrets. `replaced`: whether a secret changed. `kept`: sealed ones whose masks were sent back. */
function restored(
  sent: Parameters,
  { parameters: stored, sealed }: OpenParameters,
): { parameters: Parameters; replaced: boolean; kept: string[] } {
  const secrets = secretParameters(sent, sealed);
  // A mask under a name that is not secret is one of a secret that was renamed.
  const renamed = Object.keys(sent).filter((name) => isMask(sent[name] ?? '') && sent[name] !== stored[name]);
  const places = [...new Set([...secrets, ...renamed])].map((name) => [name]);
  const { config, unknown } = finish(restoreMaskedInSteps(sent, stored, places));
  if (unknown.length > 0)
    throw invalidFields(
      unknown.map((path) => ({
        field: `parameters.${pathText(path)}`,
        message: 'is a mask that fits no stored secret: send the secret itself',
      })),
    );
  const parameters = config as Parameters;
  return {
    parameters,
    replaced: secrets.some((name) => parameters[name] !== stored[name]),
    kept: sealed.filter((name) => isMask(sent[name] ?? '')),
  };
}
function found(pipeline: Pipeline | undefined): Pipeline {
  if (pipeline === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such pipeline.' });
  return pipeline;
}
function newSecret(): string {
  return `sk_${randomText(40)}`;
}

/** A given slug must be free. A slug made from the name gets a number when it is taken. */
async function slugFor(tx: Db, orgId: string, body: Static<typeof resource.create>): Promise<string> {
  if (body.slug !== undefined) {
    await requireFreeSlug(tx, orgId, body.slug);
    return body.slug;
  }
  const slug = slugOf(body.name);
  return freeSlug(slug, await slugsInUse(tx, orgId, slug));
}
async function requireFreeSlug(tx: Db, orgId: string, slug: string, ownId?: string): Promise<void> {
  if ((await slugsInUse(tx, orgId, slug, ownId)).has(slug))
    throw new ApiError('DUPLICATE_RESOURCE', {
      message: `Another pipeline has the slug ${slug}.`,
      details: [{ field: 'slug', message: 'is taken' }],
    });
}

/** The fields that were sent, with the defaults for the missing keys of objects. */
function inputOf({ js_builder_config, identity_config, labels, ...input }: PipelineInput): Partial<PipelineFields> {
  const [bad] = (input.config?.ip_allowlist ?? []).flatMap((entry, index) => (isNetwork(entry) ? [] : [index]));
  if (bad !== undefined) throw invalid(`config.ip_allowlist[${bad}]`, 'must be an IP address or a network such as 10.0.0.0/8');
  return {
    ...input,
    ...(labels === undefined ? {} : { labels: [...new Set(labels)] }),
    ...(js_builder_config === undefined ? {} : { js_builder_config: { ...JS_BUILDER_DEFAULTS, ...js_builder_config } }),
    ...(identity_config === undefined ? {} : { identity_config: { ...IDENTITY_DEFAULTS, ...identity_config } }),
  };
}
