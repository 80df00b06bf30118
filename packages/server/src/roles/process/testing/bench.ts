/** What the tests and the benchmark of processing stand on: a real log, real visitors, configuration made by hand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataLayerConfig, TrackingPlan, Transformation } from '@firsthand/core/config/resources.ts';
import { transformation } from '@firsthand/core/config/transformation.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { encodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { compileOrganisation, compileProcessing } from '@firsthand/core/process/compiled.ts';
import pino from 'pino';
import { decodeEventRecord, eventsTopic } from '../../../event-record.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from '../../../outcomes/outcome-log.ts';
import { ingestTopic, partitionOf } from '../../../partition.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { SandboxLimits } from '../../../sandbox/protocol.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/sandbox.ts';
import type { CompiledPipeline, Snapshot, SnapshotSource } from '../../../snapshot/types.ts';
import { type LmdbLog, openLmdbLog } from '../../../stores/event-log/lmdb.ts';
import type { Append, EventLog } from '../../../stores/event-log/port.ts';
import { embeddedLeases } from '../../../stores/leases/embedded.ts';
import { openLmdbVisitors } from '../../../stores/visitors/lmdb.ts';
import type { VisitorStore } from '../../../stores/visitors/port.ts';
import type { TapFrame } from '../../../tap/port.ts';
import type { ProcessDeps } from '../deps.ts';
import { type ProcessRole, startProcess } from '../start.ts';

export const ORG = 'org_1';

export interface PipelineSource {
  id: string;
  transformations?: Partial<Transformation>[];
  tracking_plan?: TrackingPlan;
  parameters?: Record<string, string>;
}

/** A snapshot that tests may change. */
export class Snapshots implements SnapshotSource {
  #current: Snapshot;
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();

  constructor(dataLayer: Partial<DataLayerConfig>, pipelines: PipelineSource[]) {
    this.#current = snapshotOf(1, dataLayer, pipelines);
  }
  current(): Snapshot {
    return this.#current;
  }
  onChange(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  change(dataLayer: Partial<DataLayerConfig>, pipelines: PipelineSource[]): void {
    this.#current = snapshotOf(this.#current.version + 1, dataLayer, pipelines);
    for (const listener of this.#listeners) listener(this.#current);
  }
}

function snapshotOf(version: number, dataLayer: Partial<DataLayerConfig>, sources: PipelineSource[]): Snapshot {
  const { organisation, faults } = compileOrganisation(dataLayer, ORG);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  const pipelines = new Map<string, CompiledPipeline>();
  for (const source of sources) {
    const transformations = (source.transformations ?? []).map((one, i) => ({
      ...BLANK,
      id: `trf_${source.id}_${i}`,
      position: i,
      ...one,
    }));
    const compiled = compileProcessing({
      transformations,
      parameters: source.parameters ?? {},
      ...(source.tracking_plan && { tracking_plan: source.tracking_plan }),
    });
    if (compiled.faults.length > 0) throw new Error(JSON.stringify(compiled.faults));
    // Processing reads nothing else of a pipeline.
    pipelines.set(source.id, { processing: compiled.processing } as CompiledPipeline);
  }
  return {
    version,
    organisations: new Map([[ORG, organisation]]),
    pipelines,
    pipelinesByKey: new Map(),
    integrations: new Map(),
    webhookSources: new Map(),
    costs: { pieces: new Map(), organisations: new Map() },
  };
}
const BLANK = transformation.sample({ org_id: ORG, pipeline_id: 'pl_1' });

export const SETTINGS = { deadLetterRetentionMs: 86_400_000, configReloadMs: 100 };

export type ClientEvent = Record<string, unknown> & { anonymousId?: string; userId?: string };

export function ingestAppend(event_id: string, body: ClientEvent, over: Partial<IngestEnvelope> = {}): Append {
  const envelope: IngestEnvelope = {
    v: 1,
    org_id: ORG,
    pipeline_id: 'pl_1',
    event_id,
    received_at: Date.now(),
    source: 'browser',
    ...(body.anonymousId !== undefined && { anonymous_id: body.anonymousId }),
    ...over,
  };
  const visitor = envelope.anonymous_id ?? body.userId ?? event_id;
  const id = `${envelope.pipeline_id}:${event_id}${envelope.replay_of ? `#${envelope.replay_of}` : ''}`;
  const data = encodeEnvelope(envelope, Buffer.from(JSON.stringify(body)));
  return { topic: ingestTopic(partitionOf(ORG, visitor)), records: [{ id, data }] };
}

export class Bench {
  readonly dir: string;
  log: LmdbLog;
  visitors: VisitorStore;
  readonly sandbox: Sandbox;
  readonly frames: TapFrame[] = [];
  watched = false;
  role: ProcessRole | undefined;
  snapshots: Snapshots;

  private constructor(dir: string, log: LmdbLog, snapshots: Snapshots, limits: Partial<SandboxLimits>) {
    this.dir = dir;
    this.log = log;
    this.visitors = openLmdbVisitors(log);
    this.snapshots = snapshots;
    this.sandbox = createSandbox({ limits });
  }

  static async open(snapshots: Snapshots, limits: Partial<SandboxLimits> = {}): Promise<Bench> {
    const dir = await mkdtemp(join(tmpdir(), 'firsthand-process-'));
    return new Bench(dir, await openLog(dir), snapshots, limits);
  }

  start(over: Partial<ProcessDeps> = {}): ProcessRole {
    this.role = startProcess({
      log: this.log,
      leases: embeddedLeases(),
      visitors: this.visitors,
      snapshots: this.snapshots,
      sandbox: this.sandbox,
      tap: { watched: () => this.watched, emit: (_org, frame) => void this.frames.push(frame) },
      settings: SETTINGS,
      clock: systemClock,
      logger: pino({ level: 'silent' }),
      ...over,
    });
    return this.role;
  }

  async send(event_id: string, body: ClientEvent, over: Partial<IngestEnvelope> = {}): Promise<void> {
    await this.log.append([ingestAppend(event_id, body, over)]);
  }

  async events(pipelineId = 'pl_1'): Promise<CanonicalEvent[]> {
    return readEvents(this.log, pipelineId);
  }
  async outcomes(): Promise<Outcome[]> {
    const all: Outcome[] = [];
    for (const topic of await this.log.topics(OUTCOMES_TOPIC))
      for await (const record of this.log.read(topic, { limit: 1_000_000 })) all.push(...decodeOutcomes(record));
    return all;
  }
  /** Waits until so many events have an outcome; the bound only ends what hangs. */
  async settled(count: number): Promise<Outcome[]> {
    const end = performance.now() + 60_000;
    for (;;) {
      const outcomes = await this.outcomes();
      if (outcomes.length >= count || performance.now() > end) return outcomes;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** As after a restart: the same files, nothing in memory. */
  async reopen(): Promise<void> {
    await this.role?.stop();
    await this.log.close();
    this.log = await openLog(this.dir);
    this.visitors = openLmdbVisitors(this.log);
  }
  async close(): Promise<void> {
    await this.role?.stop();
    await this.sandbox.stop();
    await this.log.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}

export async function readEvents(log: EventLog, pipelineId: string): Promise<CanonicalEvent[]> {
  const events: CanonicalEvent[] = [];
  for await (const record of log.read(eventsTopic(pipelineId), { limit: 1_000_000 })) events.push(decodeEventRecord(record.data).event);
  return events;
}

function openLog(dir: string): Promise<LmdbLog> {
  return openLmdbLog({ path: join(dir, 'log'), dedupWindowMs: 86_400_000 });
}

/** Events marked as poison break on a rule. */
export function orderSnapshots(): Snapshots {
  const condition = { field: 'properties.poison', op: 'eq' as const, value: true };
  const rules = [{ type: 'set' as const, target: 'context', value: 'broken', condition }];
  return new Snapshots({}, [{ id: 'pl_1', transformations: [{ kind: 'rules', rules }] }]);
}
