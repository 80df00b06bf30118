import { Closed, Nullable, named, OneOf, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { Static } from 'typebox';
import { integrationHealth } from '../../../operations/health.ts';
import { type AdminApp, type AdminContext, roleReaches } from '../deps.ts';

const seconds = (description: string) => Type.Integer({ description });
const Role = OneOf(['admin', 'ingest', 'process', 'deliver']);
type Role = Static<typeof Role>;
const Process = named(
  'ProcessState',
  Closed({
    id: Type.String({ description: 'Random, per start.' }),
    this: Type.Boolean({ description: 'The process that answers.' }),
    host: Nullable(Type.String({ description: 'Host name and process id. Shown to admins.', examples: ['web-1:4711'] })),
    roles: Type.Array(Role),
    version: Type.String(),
    started_at: Timestamp,
    memory_bytes: Type.Integer({ description: 'Resident memory.' }),
    log_available: Type.Boolean({ description: 'Whether it reaches the event log.' }),
    configuration_version: Type.Integer({ description: 'The configuration that it works with.' }),
  }),
);
const Installation = named(
  'Installation',
  Closed({
    version: Type.String({ examples: ['0.2.0'] }),
    runtime: Type.String({ examples: ['node v24.21.0'] }),
    mode: OneOf(['development', 'production']),
    process: Closed({
      roles: Type.Array(Role),
      uptime_s: Type.Integer(),
      memory_bytes: Type.Integer({ description: 'Resident memory.' }),
    }),
    processes: Type.Array(Process, {
      description: 'Every process that was heard within the last 15 seconds, the answering one first. Without NATS there is one.',
    }),
    stores: Closed({
      configuration: Closed({ engine: OneOf(['sqlite', 'postgresql']) }),
      log: Closed({ engine: OneOf(['lmdb', 'nats']), available: Type.Boolean() }),
    }),
    retention: Closed({
      events_s: seconds('Processed events and their traces: `EVENT_RETENTION`.'),
      dead_letters_s: seconds('`DEAD_LETTER_RETENTION`.'),
      deduplication_s: seconds('`DEDUP_WINDOW`.'),
    }),
    backlog: Closed({
      waiting: Type.Integer({ description: "Events of the caller's organisation in delivery queues." }),
      oldest_waiting_at: Nullable(Timestamp),
    }),
    configuration_version: Type.Integer({ description: 'Grows with every change.' }),
  }),
);

export function installationRoutes(app: AdminApp, context: AdminContext): void {
  const { settings, version, operations } = context;
  app.get(
    '/installation',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'Read the state of the installation',
        description: 'The processes, the stores, how long data is kept, and the backlog. `/readyz` and `/metrics` serve machines.',
        tags: ['Service'],
        response: { 200: Installation },
      },
    },
    async ({ user }) => {
      const { version: configuration_version, integrations } = operations.snapshots.current();
      const own = [...integrations.values()].map(({ integration }) => integration).filter(({ org_id }) => org_id === user.org_id);
      const health = [...(await integrationHealth(operations, own)).values()];
      const oldest = health.flatMap(({ oldest_waiting_at: at }) => (at === null ? [] : [at])).sort();
      return {
        version,
        runtime: `node ${process.version}`,
        mode: settings.mode,
        process: {
          roles: [...settings.roles],
          uptime_s: Math.floor(process.uptime()),
          memory_bytes: process.memoryUsage.rss(),
        },
        processes: operations.processes().map(({ host, pid, roles, ...state }, at) => ({
          ...state,
          roles: roles as Role[],
          this: at === 0,
          host: roleReaches(user.role, 'admin') ? `${host}:${pid}` : null,
        })),
        stores: {
          configuration: { engine: settings.databaseUrl === undefined ? ('sqlite' as const) : ('postgresql' as const) },
          log: {
            engine: settings.natsUrl === undefined ? ('lmdb' as const) : ('nats' as const),
            available: operations.log.available,
          },
        },
        retention: {
          events_s: Math.floor(settings.eventRetentionMs / 1_000),
          dead_letters_s: Math.floor(settings.deadLetterRetentionMs / 1_000),
          deduplication_s: Math.floor(settings.dedupWindowMs / 1_000),
        },
        backlog: { waiting: health.reduce((sum, { waiting }) => sum + waiting, 0), oldest_waiting_at: oldest[0] ?? null },
        configuration_version,
      };
    },
  );
}
