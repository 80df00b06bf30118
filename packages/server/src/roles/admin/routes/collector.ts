import { createHash } from 'node:crypto';
import { scriptAddress, snippet } from '@firsthand/collector/build/snippet.ts';
import type { Pipeline } from '@firsthand/core/config/resources.ts';
import { Id, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { BUILD_WANTED_CHANNEL } from '../../../collector/channels.ts';
import { ApiError } from '../../../http/errors.ts';
import { ingestOrigin } from '../../../http/public-origin.ts';
import { IdParams } from '../../../http/schema.ts';
import { newId } from '../../../runtime/ids.ts';
import { type BuiltFile, queueBuild, readBuildState, readSource } from '../../../stores/config/collector-builds.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { requirePipeline } from './integrations.ts';

const tags = ['Collector'];
const Switch = (description: string) => Type.Optional(OneOf(['true', 'false', '1', '0'], { description }));
const isOn = (value: string | undefined) => value === 'true' || value === '1';

const Started = named('CollectorBuildStarted', Type.Object({ status: OneOf(['building']), pipeline_id: Id('pl') }));
const Status = named(
  'CollectorStatus',
  Type.Object({
    status: OneOf(['no_builds', 'building', 'ready']),
    pipeline_id: Id('pl'),
    build_id: Type.Optional(Id('bld')),
    version_hash: Type.Optional(Type.String({ examples: ['3f1c9a4be07d5a12'] })),
    file_size_bytes: Type.Optional(Type.Integer()),
    built_at: Type.Optional(Timestamp),
    error: Type.Optional(Type.String({ description: 'Why the last build failed. The file before it is still served.' })),
  }),
);
const Snippet = named(
  'CollectorSnippet',
  Type.Object({
    snippet: Type.String({ description: 'The script tag.' }),
    url: Type.String({ description: 'Where the tag loads the script from.' }),
    pinned: Type.Boolean(),
    integrity: Nullable(Type.String()),
    ingest_url: Type.String({ description: 'Where events are sent to, for every other client.', examples: ['https://in.shop.example'] }),
  }),
);

/** Builds of the browser collector, their files and the tags that load them. */
export function collectorRoutes(app: AdminApp, context: AdminContext): void {
  const { db, clock } = context;

  app.post(
    '/pipelines/:id/collector/build',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Build the collector',
        description: 'From the configuration as it is when the build begins. The file before is served until the new one is ready.',
        tags,
        params: IdParams,
        response: { 200: Started },
      },
    },
    async ({ params, user }) => {
      const pipeline = await context.write(user, 'pipeline.collector_build_started', async (tx, change) => {
        const found = await requirePipeline(tx, user.org_id, params.id);
        const id = newId('bld', clock.now());
        const { script_filename } = found.js_builder_config;
        await queueBuild(tx, { id, org_id: user.org_id, pipeline_id: found.id, script_filename, created_by: user.id }, change.stamp);
        change.audit({ id: found.id, changes: { build_id: { old: null, new: id } } });
        return found;
      });
      context.operations.ephemeral.publish(BUILD_WANTED_CHANNEL, pipeline.id);
      return { status: 'building' as const, pipeline_id: pipeline.id };
    },
  );

  app.get(
    '/pipelines/:id/collector/status',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Read the state of the collector',
        description: 'Build, hash, size and time are those of the file that is served now, also while another is being built.',
        tags,
        params: IdParams,
        response: { 200: Status },
      },
    },
    async ({ params, user }) => {
      const pipeline = await requirePipeline(db, user.org_id, params.id);
      const { building, ready, error } = await readBuildState(db, user.org_id, pipeline.id);
      return {
        status: building ? ('building' as const) : ready === undefined ? ('no_builds' as const) : ('ready' as const),
        pipeline_id: pipeline.id,
        ...(ready === undefined ? {} : shown(ready)),
        ...(building || error === undefined ? {} : { error }),
      };
    },
  );

  app.get(
    '/pipelines/:id/collector/download',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Download the collector',
        description: 'The newest build, to be hosted anywhere.',
        tags,
        params: IdParams,
        querystring: Type.Object({ map: Switch('`1`: its source map instead.') }),
        response: { 200: Type.String({ 'x-content-type': 'application/javascript' }) },
      },
    },
    async ({ params, query, user }, reply) => {
      const pipeline = await requirePipeline(db, user.org_id, params.id);
      const file = await requireBuilt(user.org_id, pipeline);
      const map = isOn(query.map);
      void reply
        .header('content-type', map ? 'application/json; charset=utf-8' : 'application/javascript')
        .header('content-disposition', `attachment; filename="${file.script_filename}${map ? '.map' : ''}"`)
        .header('x-content-type-options', 'nosniff');
      const bytes = Buffer.from(map ? file.source_map : file.source);
      return reply.send(bytes as unknown as string); // Fastify sends bytes too, but the schema says text
    },
  );

  app.get(
    '/pipelines/:id/collector/snippet',
    {
      config: { role: 'viewer', errors: ['CONFLICT'] },
      schema: {
        summary: 'The script tag for a page',
        description:
          'By default always the newest build. Pinned, it names one build by its immutable address, with `integrity`; 404 where none is built.',
        tags,
        params: IdParams,
        querystring: Type.Object({ pinned: Switch('`true`: the build that is served now, for good.') }),
        response: { 200: Snippet },
      },
    },
    async (request) => {
      const { params, query, user } = request;
      const pipeline = await requirePipeline(db, user.org_id, params.id);
      const ingest_url = ingestOrigin(context.settings, request);
      if (!isOn(query.pinned)) {
        const input = { pipeline, ingest_url };
        return { snippet: snippet(input), url: scriptAddress(input), pinned: false, integrity: null, ingest_url };
      }
      const { script_filename, version_hash, source } = await requireBuilt(user.org_id, pipeline);
      const integrity = `sha384-${createHash('sha384').update(source).digest('base64')}`;
      // The build's own name: the configuration may name its next one.
      const built = { ...pipeline, js_builder_config: { ...pipeline.js_builder_config, script_filename } };
      const input = { pipeline: built, ingest_url, pinned: true, status: { version_hash, integrity } };
      return { snippet: snippet(input), url: scriptAddress(input), pinned: true, integrity, ingest_url };
    },
  );

  async function requireBuilt(orgId: string, pipeline: Pipeline) {
    const { ready } = await readBuildState(db, orgId, pipeline.id);
    const bytes = ready && (await readSource(db, ready.id));
    if (ready === undefined || bytes === undefined)
      throw new ApiError('NOT_FOUND', { message: 'The collector of this pipeline has not been built yet.' });
    return { ...ready, ...bytes };
  }
}

function shown({ id, version_hash, file_size_bytes, built_at }: BuiltFile) {
  return { build_id: id, version_hash, file_size_bytes, built_at };
}
