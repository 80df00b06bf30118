/**
 * The routes that an API token with `pipeline_ids` may call. Routes that are not listed are closed to such tokens, so a new route is safe by
 * default.
 */
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { findWebhookSource } from '../../../stores/config/webhook-sources.ts';
import { findDeadLetter } from '../../../stores/observe/dead-letters.ts';
import type { Actor, AdminDeps } from '../deps.ts';

type Deps = Pick<AdminDeps, 'db' | 'operations' | 'clock'>;
interface Call {
  deps: Deps;
  user: Actor;
  params: Record<string, string | undefined>;
  query: Record<string, string | undefined>;
  body: Record<string, unknown> | undefined;
}
/** The pipelines that a call touches. Undefined: the caller must name one and did not. */
type PipelinesOf = (call: Call) => Promise<(string | undefined)[]>;

const byPath: PipelinesOf = async ({ params }) => [params.id];
const byQuery: PipelinesOf = async ({ query }) => [query.pipeline_id];
const byBody: PipelinesOf = async ({ body }) => [text(body?.pipeline_id)];
const bySourceId: PipelinesOf = async ({ body }) => [text(body?.source_id)];
const none: PipelinesOf = async () => [];
/** An unknown id is left to the route, which responds 404. */
const byWebhookSource: PipelinesOf = async ({ deps, user, params, body }) => {
  const source = await findWebhookSource(deps.db, user.org_id, params.id ?? '');
  const moved = text(body?.pipeline_id);
  return source === undefined ? [] : [source.pipeline_id, ...(moved === undefined ? [] : [moved])];
};
const byDeadLetter: PipelinesOf = async ({ deps, user, params }) => {
  const letter = await findDeadLetter(deps.operations.observe, user.org_id, params.id ?? '', deps.clock.now());
  return letter === undefined ? [] : [letter.pipeline_id];
};

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Method and path without the prefix. A final `*` matches every path below. The first match applies. */
const SCOPES: readonly (readonly [pattern: string, PipelinesOf])[] = [
  // Lists only the token's own pipelines.
  ['GET /pipelines', none],
  ['GET /pipelines/:id', byPath],
  ['PUT /pipelines/:id', byPath],
  ['GET /pipelines/:id/*', byPath],
  ['PUT /pipelines/:id/*', byPath],
  ['POST /pipelines/:id/*', byPath],
  ['DELETE /pipelines/:id/*', byPath],
  // Lists only those of the token's own pipelines.
  ['GET /integrations', none],
  ['POST /integrations', bySourceId],
  ['GET /webhook-sources', byQuery],
  ['POST /webhook-sources', byBody],
  ['GET /webhook-sources/:id', byWebhookSource],
  ['GET /webhook-sources/:id/*', byWebhookSource],
  ['PUT /webhook-sources/:id', byWebhookSource],
  ['DELETE /webhook-sources/:id', byWebhookSource],
  ['POST /webhook-sources/:id/*', byWebhookSource],
  ['GET /dlq', byQuery],
  ['GET /dlq/groups', byQuery],
  ['POST /dlq/replay', byBody],
  ['GET /dlq/:id', byDeadLetter],
  ['DELETE /dlq/:id', byDeadLetter],
  ['POST /dlq/:id/replay', byDeadLetter],
  ['GET /events', byQuery],
  ['GET /events/:event_id', byQuery],
  ['GET /events/:event_id/changes', byQuery],
  ['GET /stats', byQuery],
  ['GET /integration-catalog', none],
  ['GET /integration-catalog/*', none],
  ['POST /mapping/preview', none],
  ['POST /transformations/test', none],
];

/** The pipelines that a list may show: the requested ones that the caller's token may read. Undefined: all. */
export function permitted(
  { pipeline_ids }: Pick<Actor, 'pipeline_ids'>,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  if (pipeline_ids === undefined || asked === undefined) return asked ?? pipeline_ids;
  return asked.filter((id) => pipeline_ids.includes(id));
}

export function createPipelineScope(deps: Deps) {
  return async (request: FastifyRequest): Promise<void> => {
    const { user } = request;
    const allowed = user?.pipeline_ids;
    if (allowed === undefined) return;
    const pipelinesOf = scopeOf(request.method, request.routeOptions.url ?? '');
    if (pipelinesOf === undefined)
      throw new ApiError('FORBIDDEN', { message: 'This API token is limited to some pipelines and cannot be used here.' });
    const { params, query, body } = request as unknown as Pick<Call, 'params' | 'query' | 'body'>; // typed per route, read here for any
    for (const id of await pipelinesOf({ deps, user, params, query, body })) {
      if (id === undefined)
        throw new ApiError('FORBIDDEN', { message: 'This API token is limited to some pipelines: name one as pipeline_id.' });
      // The same response as for another organisation's pipeline, so that it does not reveal whether the pipeline exists.
      if (!allowed.includes(id)) throw new ApiError('NOT_FOUND');
    }
  };
}

/** How a route refuses tokens that are limited to pipelines, for its documentation. */
export function scopeRefusals(method: string, url: string): ('FORBIDDEN' | 'NOT_FOUND')[] {
  const pipelinesOf = scopeOf(method, url);
  if (pipelinesOf === undefined) return ['FORBIDDEN'];
  if (pipelinesOf === none) return [];
  return NAMED_BY_CALLER.has(pipelinesOf) ? ['FORBIDDEN', 'NOT_FOUND'] : ['NOT_FOUND'];
}
const NAMED_BY_CALLER: ReadonlySet<PipelinesOf> = new Set([byQuery, byBody, bySourceId]);

function scopeOf(method: string, url: string): PipelinesOf | undefined {
  const route = `${method === 'HEAD' ? 'GET' : method} ${url.replace(/^\/v1\/admin/, '')}`;
  return SCOPES.find(([pattern]) => (pattern.endsWith('*') ? route.startsWith(pattern.slice(0, -1)) : route === pattern))?.[1];
}
