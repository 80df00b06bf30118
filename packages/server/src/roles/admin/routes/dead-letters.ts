import { AnyObject, Body, Closed, Id, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import { REPLAY_CHANNEL } from '../../../channels.ts';
import { ApiError, invalid, missing } from '../../../http/errors.ts';
import { IdParams, ListOf, PageQuery, pageOf, TimeQuery } from '../../../http/schema.ts';
import { isRejectedEvent, replayRejected } from '../../../intake/replay-rejected.ts';
import { reingest } from '../../../operations/reingest.ts';
import { shownDeadLetterEvent } from '../../../operations/rejected-events.ts';
import { type ReplayDeps, replayDeadLetters, replayLetters } from '../../../operations/replay.ts';
import { createSecretDigest } from '../../../secrets/secret-digest.ts';
import { hideSecrets } from '../../../snapshot/hide-secrets.ts';
import { findIntegrationById } from '../../../stores/config/integrations.ts';
import { decodeInTurns } from '../../../stores/config/paging.ts';
import { findPipeline } from '../../../stores/config/pipelines.ts';
import { latestRevision } from '../../../stores/config/revisions.ts';
import { findWebhookSource } from '../../../stores/config/webhook-sources.ts';
import {
  countDeadLetters,
  type DeadLetterFilter,
  deleteDeadLetter,
  findDeadLetter,
  groupDeadLetters,
  listDeadLetters,
  type StoredDeadLetter,
} from '../../../stores/observe/dead-letters.ts';
import { definedOf } from '../defined.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { timeRange } from '../time-range.ts';

const tags = ['Dead letters'];
const STAGES = ['ingest', 'webhook', 'processing', 'mapping', 'delivery'] as const;
const DeadLetterSchema = named(
  'DeadLetter',
  Type.Object({
    id: Id('dlq'),
    org_id: Id('org'),
    pipeline_id: Id('pl'),
    integration_id: Nullable(Type.String()),
    webhook_source_id: Nullable(Type.String()),
    vendor: Nullable(Type.String()),
    revision_number: Nullable(Type.Integer()),
    event_id: Type.String(),
    stage: OneOf(STAGES),
    event: AnyObject({
      description: 'The canonical event, the raw webhook, or (stage ingest) the rejected event: raw, message, received_at.',
    }),
    attempts: Type.Array(
      named(
        'Attempt',
        Type.Object({ at: Timestamp, status: Nullable(Type.Integer()), error: Nullable(Type.String()), duration_ms: Type.Number() }),
      ),
    ),
    reason: Type.String(),
    status: OneOf(['pending', 'replayed']),
    created_at: Timestamp,
    expires_at: Timestamp,
  }),
);
const DeadLetterGroup = named(
  'DeadLetterGroup',
  Closed({
    pipeline_id: Id('pl'),
    integration_id: Nullable(Id('int')),
    webhook_source_id: Nullable(Id('whs')),
    vendor: Nullable(Type.String()),
    stage: OneOf(STAGES),
    reason: Type.String({ examples: ['http_500'] }),
    count: Type.Integer(),
    pending: Type.Integer({ description: 'How many of them have not been replayed.' }),
    first_at: Timestamp,
    last_at: Timestamp,
  }),
);
const OWNERS = ['integration_id', 'pipeline_id', 'webhook_source_id'] as const;
type Owner = (typeof OWNERS)[number];
const Replayed = named('Replayed', Type.Object({ replayed: Type.Integer() }));
const Which = {
  integration_id: Type.Optional(Type.String()),
  pipeline_id: Type.Optional(Type.String()),
  webhook_source_id: Type.Optional(Type.String()),
  stage: Type.Optional(OneOf(STAGES)),
  stages: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Any of these stages, with commas between them.',
      examples: ['processing,mapping,delivery'],
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 1_000, description: 'Exactly this reason.' })),
  from: Type.Optional(TimeQuery('The first moment that counts.')),
  to: Type.Optional(TimeQuery('The last moment that counts.')),
};

export function deadLetterRoutes(app: AdminApp, context: AdminContext): void {
  const { observe, log, snapshots } = context.operations;
  const now = () => context.clock.now();
  const digestSecret = createSecretDigest(context.secretKey);
  const replayDeps: ReplayDeps = {
    log,
    observe,
    now,
    async latestRevision(orgId, integrationId) {
      const integration = await findIntegrationById(context.db, orgId, integrationId);
      // A disabled or client-side integration would drop the event, and its dead letter would be lost.
      if (integration === undefined || !integration.enabled || integration.delivery_mode === 'client_side') return undefined;
      if ((await findPipeline(context.db, orgId, integration.pipeline_id)) === undefined) return undefined;
      return (await latestRevision(context.db, orgId, integration.template_id))?.revision_number;
    },
    reingest: (letter, replayId) =>
      reingest({ log, snapshot: () => snapshots.current(), ingestUrl: context.settings.ingestUrl, digestSecret }, letter, replayId),
  };
  /** Uses the corrected event, if given. Throws 422 or 409 if the event would be rejected again. */
  function corrected(letter: StoredDeadLetter, event: JsonObject | undefined): StoredDeadLetter {
    if (letter.stage !== 'ingest' || !isRejectedEvent(letter.event)) {
      if (event === undefined) return letter;
      throw invalid('event', 'can only replace a rejected event, of stage ingest');
    }
    const fixed = event === undefined ? letter : { ...letter, event: { ...letter.event, raw: event } };
    const pipeline = snapshots.current().pipelines.get(letter.pipeline_id);
    const result = pipeline && replayRejected(fixed, pipeline.ingest);
    if (result === undefined || result.ok) return fixed;
    if (result.sender) throw new ApiError('CONFLICT', { message: `This event cannot be replayed: ${result.message}` });
    if (event !== undefined) throw invalid('event', result.message);
    throw new ApiError('CONFLICT', { message: `The event would be rejected again: ${result.message} Send a corrected event.` });
  }
  function shown({ raw: _raw, ...letter }: StoredDeadLetter) {
    const snapshot = snapshots.current();
    return hideSecrets(snapshot, letter.pipeline_id, { ...letter, event: shownDeadLetterEvent(letter, snapshot) as JsonObject });
  }
  const hint = () => context.operations.ephemeral.publish(REPLAY_CHANNEL, {});

  app.get(
    '/dlq',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List dead letters',
        description:
          'Newest first. Nothing that failed is thrown away before it expires. A page ends at 2 MB of events, with fewer than `limit`: add their number to `offset`.',
        tags,
        querystring: Type.Object({ ...Which, status: Type.Optional(OneOf(['pending', 'replayed'])), ...PageQuery }),
        response: { 200: ListOf('dead_letters', DeadLetterSchema) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { letters, total } = await listDeadLetters(observe, filterOf(user.org_id, query), page, now());
      return { dead_letters: await decodeInTurns(letters, shown), total, ...page };
    },
  );

  app.get(
    '/dlq/groups',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Group dead letters by cause',
        description: 'By pipeline, integration or webhook source, stage and reason; the largest group first.',
        tags,
        querystring: Type.Object({ ...Which, status: Type.Optional(OneOf(['pending', 'replayed'])), ...PageQuery }),
        response: { 200: ListOf('groups', DeadLetterGroup) },
      },
    },
    async ({ query, user }) => {
      const page = pageOf(query);
      const { groups, total } = await groupDeadLetters(observe, filterOf(user.org_id, query), page, now());
      return { groups: groups.map((group) => hideSecrets(snapshots.current(), group.pipeline_id, group)), total, ...page };
    },
  );

  app.get(
    '/dlq/:id',
    { config: { role: 'viewer' }, schema: { summary: 'Read a dead letter', tags, params: IdParams, response: { 200: DeadLetterSchema } } },
    async ({ params, user }) => shown(found(await findDeadLetter(observe, user.org_id, params.id, now()))),
  );

  app.post(
    '/dlq/:id/replay',
    {
      config: { role: 'editor', errors: ['CONFLICT'], anyJson: true, optionalBody: true },
      schema: {
        summary: 'Send a dead letter again',
        description:
          'To its integration, or back through ingest or processing. 409 where that is not possible now: the integration is gone or off, or the webhook or event is rejected as before. A rejected event (stage ingest) can be corrected: `event` replaces it. An event with an invalid signature, or from an address that was not allowed, can never be replayed.',
        tags,
        params: IdParams,
        body: Body(
          { event: Type.Optional(AnyObject({ description: 'Stage ingest only: the corrected event, as a client would send it.' })) },
          [],
          {
            examples: [{}, { event: { type: 'track', event: 'Order Completed', userId: 'user-42' } }],
          },
        ),
        response: { 202: Replayed },
      },
    },
    async ({ params, body, user }, reply) => {
      const letter = corrected(found(await findDeadLetter(observe, user.org_id, params.id, now())), body.event);
      const replayed = await replayLetters(replayDeps, [letter]);
      if (replayed === 0)
        throw new ApiError('CONFLICT', {
          message:
            'This dead letter cannot be replayed now: its pipeline or integration is deleted or disabled, or it would be rejected again.',
        });
      await context.write(user, 'dead_letter.replayed', async (_tx, change) =>
        change.audit({ id: letter.id, changes: { status: { old: letter.status, new: 'replayed' } } }),
      );
      hint();
      return reply.code(202).send({ replayed });
    },
  );

  app.post(
    '/dlq/replay',
    {
      config: { role: 'editor', errors: ['NOT_FOUND'] },
      schema: {
        summary: 'Send dead letters again',
        description:
          'All pending ones of one integration, pipeline or webhook source. With `limit` at most that many, oldest first: call again until fewer are replayed, to show progress or to stop in between. What fails again meanwhile waits for another call; with `limit`, send the time of the first call as `to`.',
        tags,
        body: Body(
          {
            ...Which,
            use_revision: Type.Optional(OneOf(['pinned', 'latest'])),
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
            dry_run: Type.Optional(Type.Boolean()),
          },
          [],
          { examples: [{ integration_id: 'int_01jv0g3m5w8k2d7c9q4r6t1x0z', dry_run: true }] },
        ),
        response: { 202: Replayed },
      },
    },
    async ({ body, user }, reply) => {
      const { use_revision = 'pinned', dry_run = false, limit, ...which } = body;
      const [owner, second] = OWNERS.filter((name) => which[name] !== undefined);
      const id = owner && which[owner];
      if (owner === undefined || id === undefined) throw missing(...OWNERS);
      if (second !== undefined) throw invalid(second, `must not be combined with ${owner}: send only one of them`);
      const filter = filterOf(user.org_id, which);
      if (!(await isKnown(user.org_id, owner, id)))
        throw new ApiError('NOT_FOUND', { message: `There is no such ${owner.slice(0, -3).replace('_', ' ')}.` });
      await context.write(user, 'dead_letter.replayed', async (_tx, change) =>
        change.audit({ id, after: { ...which, use_revision, dry_run, ...definedOf({ limit }) } }),
      );
      const replayed = await replayDeadLetters(replayDeps, { filter, use_revision, dry_run, limit });
      hint();
      return reply.code(202).send({ replayed });
    },
  );

  app.delete(
    '/dlq/:id',
    {
      config: { role: 'admin' },
      schema: { summary: 'Delete a dead letter', tags, params: IdParams, response: { 204: Type.Null({ description: 'No content.' }) } },
    },
    async ({ params, user }, reply) => {
      const letter = found(await findDeadLetter(observe, user.org_id, params.id, now()));
      await context.write(user, 'dead_letter.deleted', async (_tx, change) =>
        change.audit({ id: letter.id, changes: { event_id: { old: letter.event_id, new: null } } }),
      );
      await deleteDeadLetter(observe, user.org_id, letter.id);
      return reply.code(204).send(null);
    },
  );

  /** Dead letters outlive their owner, so a deleted owner with dead letters is known too. */
  async function isKnown(orgId: string, owner: Owner, id: string): Promise<boolean> {
    const find = { integration_id: findIntegrationById, pipeline_id: findPipeline, webhook_source_id: findWebhookSource }[owner];
    return (
      (await find(context.db, orgId, id)) !== undefined || (await countDeadLetters(observe, { org_id: orgId, [owner]: id }, now())) > 0
    );
  }
}

function filterOf(
  orgId: string,
  { from, to, ...which }: Omit<DeadLetterFilter, 'org_id' | 'from' | 'to' | 'stages'> & { from?: string; to?: string; stages?: string },
): DeadLetterFilter {
  const { integration_id, pipeline_id, webhook_source_id, stage, status, reason } = which;
  return {
    org_id: orgId,
    ...definedOf({ integration_id, pipeline_id, webhook_source_id, stage, stages: stagesOf(which.stages), status, reason }),
    ...timeRange({ from, to }),
  };
}
function stagesOf(text: string | undefined) {
  return text?.split(',').map((part) => {
    const stage = STAGES.find((each) => each === part.trim());
    if (stage === undefined) throw invalid('stages', `must be one or more of ${STAGES.join(', ')}, with commas between them`);
    return stage;
  });
}
function found(letter: StoredDeadLetter | undefined): StoredDeadLetter {
  if (letter === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such dead letter.' });
  return letter;
}
