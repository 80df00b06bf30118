/** Ingest on a real listener with a real log, for tests and benchmarks: pipelines are made by hand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pipeline, pipeline } from '@firsthand/core/config/pipeline.ts';
import { DEFAULT_DATA_LAYER, type WebhookSource } from '@firsthand/core/config/resources.ts';
import { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { canonicalise } from '@firsthand/core/event/canonicalise.ts';
import { decodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { compileOrganisation } from '@firsthand/core/process/compiled.ts';
import { pino } from 'pino';
import { serverOptions } from '../../../http/server-options.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from '../../../outcomes/outcome-log.ts';
import { DEFAULT_PARTITIONS, ingestTopic } from '../../../partition.ts';
import { createSharedLimits } from '../../../rate-limits/shared-limits.ts';
import { type Clock, systemClock } from '../../../runtime/clock.ts';
import { createSecretDigest } from '../../../secrets/secret-digest.ts';
import { compileIngestRules } from '../../../snapshot/ingest-rules.ts';
import type { CompiledPipeline, Snapshot } from '../../../snapshot/types.ts';
import { type CompiledWebhookSource, compileWebhookSource } from '../../../snapshot/webhook-source.ts';
import { openLmdbLog } from '../../../stores/event-log/lmdb.ts';
import type { AppendResult, EventLog } from '../../../stores/event-log/port.ts';
import type { TapFrame } from '../../../tap/port.ts';
import type { CapacityLimits } from '../capacity.ts';
import type { IngestDeps } from '../deps.ts';
import { type IngestRole, startIngest as startRole } from '../start.ts';

export const ORG = 'org_01';
export const SECRET = 'sk_0123456789abcdef';
const DATA_LAYER = { pii_rules: { ...DEFAULT_DATA_LAYER.pii_rules, fields: [{ path: 'properties.hidden', action: 'drop' as const }] } };

export function aPipeline(over: Partial<Pipeline> = {}): Pipeline {
  const keys = { pipeline_key: 'pk_web', pipeline_key_secret_prefix: 'sk_0' };
  return pipeline.sample({ id: 'pl_web', org_id: ORG, name: 'Web', slug: 'web', rate_limit_rps: 1_000_000, ...keys, ...over });
}

export function aSource({ signing_secret = 'a-signing-secret', ...over }: Partial<WebhookSource> = {}): WebhookSource {
  const custom = { name: 'Custom', source_type: 'custom', provider: 'custom' } as const;
  return { ...webhookSource.sample({ id: 'whs_custom', org_id: ORG, pipeline_id: 'pl_web', ...custom, ...over }), signing_secret };
}

export function aSnapshot(
  pipelines: readonly Pipeline[],
  sources: readonly WebhookSource[] = [],
  mode: 'development' | 'production' = 'production',
): Snapshot {
  const compiled = pipelines.map(
    (pipeline): CompiledPipeline => ({
      pipeline,
      ingest: compileIngestRules(pipeline, SECRET, { mode, natsUrl: undefined }),
      processing: { tracking_plan: undefined, transformations: [], parameters: {}, id_consent: new Map() },
      integrations: [],
      secrets: [],
      scrub: undefined,
    }),
  );
  const webhookSources = new Map<string, CompiledWebhookSource>();
  for (const source of sources) {
    const result = compileWebhookSource(source);
    if (!result.ok) throw new Error(JSON.stringify(result.faults));
    webhookSources.set(source.id, result.source);
  }
  return {
    version: 1,
    organisations: new Map([[ORG, compileOrganisation(DATA_LAYER, ORG).organisation]]),
    pipelines: new Map(compiled.map((each) => [each.pipeline.id, each])),
    pipelinesByKey: new Map(compiled.map((each) => [each.pipeline.pipeline_key, each])),
    integrations: new Map(),
    webhookSources,
    costs: { pieces: new Map(), organisations: new Map() },
  };
}

/** The real log, with `append` seen through `over`. */
export const withAppend =
  (over: (append: () => Promise<AppendResult[]>, isIngest: boolean) => Promise<AppendResult[]>) => (log: EventLog) =>
    new Proxy(log, {
      get(target, name) {
        if (name === 'append')
          return (appends: Parameters<EventLog['append']>[0]) =>
            over(
              () => target.append(appends),
              appends.some(({ topic }) => topic.startsWith('ingest.')),
            );
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });

export interface StoredEvent {
  envelope: IngestEnvelope;
  body: Buffer;
  event: CanonicalEvent;
}
export interface Harness {
  url: string;
  port: number;
  ingest: IngestRole;
  log: EventLog;
  frames: TapFrame[];
  /** How many responses Node has made. */
  responses(): number;
  /** What a listener does first when the service stops. */
  closeIdle(): void;
  /** Everything in the ingest topics. */
  stored(): Promise<StoredEvent[]>;
  outcomes(): Promise<Outcome[]>;
  /** Waits until rejected events are in the log. */
  flushRejected(): Promise<void>;
  use(snapshot: Snapshot): void;
  close(): Promise<void>;
}

export async function startIngest(
  snapshot: Snapshot,
  over: {
    clock?: Clock;
    settings?: Partial<IngestDeps['settings']>;
    limits?: CapacityLimits;
    log?: (log: EventLog) => EventLog;
    watched?: boolean;
    onCounts?: IngestDeps['onCounts'];
    consumers?: IngestDeps['consumers'];
    /** Of the log; a new folder by default. */
    path?: string;
  } = {},
): Promise<Harness> {
  const path = over.path ?? (await mkdtemp(join(tmpdir(), 'firsthand-ingest-')));
  const opened = await openLmdbLog({ path, dedupWindowMs: 86_400_000 });
  const log = over.log?.(opened) ?? opened;
  const frames: TapFrame[] = [];
  let current = snapshot;
  const listeners = new Set<(snapshot: Snapshot) => void>();
  const ingest = startRole(
    {
      log,
      snapshots: {
        current: () => current,
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      rateLimits: createSharedLimits({ clock: over.clock ?? systemClock }),
      tap: { watched: () => over.watched ?? false, emit: (_org, frame) => frames.push(frame) },
      settings: {
        maxBodyBytes: 1_048_576,
        trustProxy: undefined,
        ingestUrl: undefined,
        ingestPort: undefined,
        baseUrl: undefined,
        mode: 'development',
        allowedHosts: undefined,
        deadLetterRetentionMs: 604_800_000,
        ...over.settings,
      },
      clock: over.clock ?? systemClock,
      logger: pino({ level: 'silent' }),
      digestSecret: createSecretDigest(SECRET),
      verifyChallengeToken: (token, pipelineId) => token === `token-of-${pipelineId}`,
      ...(over.onCounts && { onCounts: over.onCounts }),
      ...(over.consumers && { consumers: over.consumers }),
    },
    over.limits,
  );
  let responses = 0;
  const server = createServer({ ...serverOptions, IncomingMessage: ingest.requestClass }, (req, res) => {
    responses++;
    if (!ingest.handle(req, res)) res.writeHead(404).end();
  });
  ingest.attach(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    ingest,
    log,
    frames,
    responses: () => responses,
    closeIdle: () => server.closeIdleConnections(),
    async stored() {
      const events: StoredEvent[] = [];
      for (let partition = 0; partition < DEFAULT_PARTITIONS; partition++)
        for await (const record of opened.read(ingestTopic(partition), { limit: 100_000 })) {
          const { envelope, body } = decodeEnvelope(record.data);
          events.push({ envelope, body: Buffer.from(body), event: canonicalise(envelope, body) });
        }
      return events;
    },
    flushRejected: () => ingest.flushRejected(),
    async outcomes() {
      const outcomes: Outcome[] = [];
      for await (const record of opened.read(OUTCOMES_TOPIC, { limit: 100_000 })) outcomes.push(...decodeOutcomes(record));
      return outcomes;
    },
    use(next) {
      current = next;
      for (const listener of listeners) listener(next);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await ingest.stop();
      await opened.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}
