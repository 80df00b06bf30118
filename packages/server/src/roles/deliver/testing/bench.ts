/** Set-up for the tests and the benchmark of delivery: a real log in a temporary folder and a programmable receiver. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import webhook from '@firsthand/catalog/vendors/webhook/vendor.ts';
import { type Integration, integration as resource } from '@firsthand/core/config/integration.ts';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { compileVendor } from '@firsthand/core/vendor/compile.ts';
import type { CompiledVendor } from '@firsthand/core/vendor/compiled.ts';
import pino, { type Logger } from 'pino';
import {
  deadLetterTopic,
  type EventRecordMeta,
  encodeEventRecord,
  eventRecordId,
  eventsTopic,
  replayTopic,
} from '../../../event-record.ts';
import { createGuardedClient } from '../../../outbound/guarded-client.ts';
import { keepRotatedTokens } from '../../../outbound/rotated-tokens.ts';
import { createTokenCache } from '../../../outbound/tokens.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from '../../../outcomes/outcome-log.ts';
import { createSharedLimits } from '../../../rate-limits/shared-limits.ts';
import { type Clock, systemClock } from '../../../runtime/clock.ts';
import type { CompiledIntegration, CompiledPipeline, Snapshot, SnapshotSource } from '../../../snapshot/types.ts';
import { openLmdbLog } from '../../../stores/event-log/lmdb.ts';
import type { EventLog } from '../../../stores/event-log/port.ts';
import { createSender, type Sender } from '../../../transports/sender.ts';
import type { DeliverDeps } from '../deps.ts';
import { type DeliverRole, startDeliver } from '../start.ts';

export interface Received {
  method: string;
  headers: IncomingMessage['headers'];
  url: string;
  body: string;
  /** Milliseconds of the monotonic clock. */
  at: number;
}
export type Respond = (request: Received, response: ServerResponse, socket: Socket) => void;

/** A server on a free port that records every request and responds 200 by default. */
export class Receiver {
  readonly requests: Received[] = [];
  respond: Respond = (_request, response) => void response.end('{}');
  readonly #server: Server;
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const received = {
          method: request.method ?? '',
          headers: request.headers,
          url: request.url ?? '',
          body: Buffer.concat(chunks).toString('utf8'),
          at: performance.now(),
        };
        this.requests.push(received);
        this.respond(received, response, request.socket);
      });
    });
  }
  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    receiver.#port = (receiver.#server.address() as AddressInfo).port;
    return receiver;
  }
  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }
  /** The event ids of everything received, batches unpacked. */
  get eventIds(): string[] {
    return this.requests.flatMap(({ body }) => [JSON.parse(body)].flat().map((event: CanonicalEvent) => event.event_id));
  }
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export class Snapshots implements SnapshotSource {
  #snapshot: Snapshot = makeSnapshot([]);
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();
  current(): Snapshot {
    return this.#snapshot;
  }
  onChange(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  set(integrations: CompiledIntegration[], pipelines: string[] = []): void {
    this.#snapshot = makeSnapshot(integrations, pipelines);
    for (const listener of this.#listeners) listener(this.#snapshot);
  }
}
function makeSnapshot(integrations: CompiledIntegration[], pipelines: string[] = []): Snapshot {
  const ids = new Set([...pipelines, ...integrations.map(({ integration }) => integration.pipeline_id)]);
  return {
    version: 1,
    organisations: new Map(),
    // Delivery asks only whether a pipeline is there.
    pipelines: new Map([...ids].map((id) => [id, {} as CompiledPipeline])),
    pipelinesByKey: new Map(),
    integrations: new Map(integrations.map((compiled) => [compiled.integration.id, compiled])),
    webhookSources: new Map(),
    costs: { pieces: new Map(), organisations: new Map() },
  };
}

export function compiledWebhook(url: string, config: JsonObject = {}): CompiledVendor {
  const result = compileVendor(
    webhook,
    { url, rate_limit_rps: 100_000, rate_limit_burst: 100_000, ...config },
    {
      mode: 'development',
      allow_private: true,
    },
  );
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.vendor;
}
export function anIntegration(vendor: CompiledVendor | undefined, overrides: Partial<Integration> = {}): CompiledIntegration {
  // Created long ago: an integration receives only events that arrive after its creation.
  const created_at = '2020-01-01T00:00:00.000Z';
  const integration = resource.sample({ id: 'int_1', org_id: 'org_1', pipeline_id: 'pl_1', created_at, ...overrides });
  const faults = vendor ? [] : [{ field: 'url', message: 'is required' }];
  return { integration, config: {}, secrets: [], vendor, faults, warnings: [] };
}
export function anEvent(eventId: string, overrides: Partial<CanonicalEvent> = {}): CanonicalEvent {
  return { event_id: eventId, type: 'track', event: 'Order Completed', timestamp: '2026-01-01T00:00:00.000Z', context: {}, ...overrides };
}
/** With the ids `e0`, `e1` and so on. */
export function events(count: number, prefix = 'e'): CanonicalEvent[] {
  return Array.from({ length: count }, (_, i) => anEvent(`${prefix}${i}`));
}

type Overrides = Partial<Omit<DeliverDeps, 'log' | 'snapshots'>> & { retryBaseMs?: number };

/** A log and a delivery role that can be ended and begun again over the same folder. */
export class Bench {
  readonly path: string;
  readonly snapshots = new Snapshots();
  log!: EventLog;
  deliver!: DeliverRole;

  readonly #openLog: (path: string) => Promise<EventLog>;
  #barriers = 0;
  readonly #closing: (() => Promise<void>)[] = [];

  private constructor(path: string, openLog: (path: string) => Promise<EventLog>) {
    this.path = path;
    this.#openLog = openLog;
  }
  /** Default: the embedded log. */
  static async open(openLog = (path: string): Promise<EventLog> => openLmdbLog({ path, dedupWindowMs: 3_600_000 })): Promise<Bench> {
    const bench = new Bench(await mkdtemp(join(tmpdir(), 'deliver-')), openLog);
    bench.log = await openLog(bench.path);
    return bench;
  }
  start(overrides: Overrides = {}): void {
    this.deliver = this.startAnother(overrides);
  }
  startAnother(overrides: Overrides = {}): DeliverRole {
    return startDeliver({ ...this.#deps(overrides), snapshots: this.snapshots });
  }
  /** What a worker is made with, for tests of what lies below the role. */
  workerDeps() {
    const deps = this.#deps({});
    return { ...deps, compileRevision: undefined };
  }
  #deps({ retryBaseMs = 10, ...overrides }: Overrides) {
    const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
    return {
      log: this.log,
      sender: this.#newSender(overrides.clock ?? systemClock, logger),
      tap: { watched: () => false, emit: () => undefined },
      settings: { retryBaseMs, deadLetterRetentionMs: 7 * 86_400_000, allowPrivateDestinations: true },
      clock: systemClock,
      random: () => 0,
      logger,
      rateLimits: createSharedLimits({ clock: systemClock }),
      ...overrides,
    };
  }
  #newSender(clock: Clock, logger: Logger): Sender {
    const client = createGuardedClient({ allowPrivateDestinations: true, clock });
    const tokens = createTokenCache({ client, clock, logger, rotated: keepRotatedTokens(this.log) });
    const sender = createSender({ client, tokens, clock, allowPrivateDestinations: true });
    this.#closing.push(async () => {
      await sender.close();
      await client.close();
    });
    return sender;
  }
  async restart(overrides: Overrides = {}): Promise<void> {
    await this.deliver.stop();
    await this.log.close();
    this.log = await this.#openLog(this.path);
    this.start(overrides);
  }
  async append(events: CanonicalEvent[], pipelineId = 'pl_1', received_at = Date.now()): Promise<void> {
    const meta = { received_at, org_id: 'org_1', pipeline_id: pipelineId };
    const records = events.map((event) => ({ id: eventRecordId(pipelineId, event.event_id), data: encodeEventRecord(meta, event) }));
    await this.log.append([{ topic: eventsTopic(pipelineId), records }]);
  }
  /** `replayId`: of a replay of history, or the id of a dead letter. */
  async replay(events: CanonicalEvent[], more: Partial<EventRecordMeta> = {}, replayId = 'rpl_1'): Promise<void> {
    const [integrationId, pipelineId] = ['int_1', 'pl_1'];
    const meta = { received_at: Date.now(), org_id: 'org_1', pipeline_id: pipelineId, ...more };
    const records = events.map((event) => ({
      id: eventRecordId(pipelineId, event.event_id, replayId),
      data: encodeEventRecord(meta, event),
    }));
    await this.log.append([{ topic: replayTopic(integrationId), records }]);
  }
  async outcomes(): Promise<Outcome[]> {
    const out: Outcome[] = [];
    for (const topic of await this.log.topics(OUTCOMES_TOPIC))
      for await (const record of this.log.read(topic, { limit: 1_000_000 })) out.push(...decodeOutcomes(record));
    return out;
  }
  async counts(integrationId?: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const outcome of await this.outcomes()) {
      const id =
        outcome.kind === 'dead_lettered' ? outcome.dead_letter.integration_id : 'integration_id' in outcome ? outcome.integration_id : '';
      if (integrationId !== undefined && id !== integrationId) continue;
      const key = outcome.kind === 'dropped' ? `dropped:${outcome.reason}` : outcome.kind;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }
  async deadLetters(integrationId = 'int_1'): Promise<DeadLetter[]> {
    const out: DeadLetter[] = [];
    for await (const record of this.log.read(deadLetterTopic(integrationId), { limit: 100_000 }))
      out.push(JSON.parse(Buffer.from(record.data).toString('utf8')) as DeadLetter);
    return out;
  }
  /** Nothing waits any more for the integration, and that is written. */
  async settled(integrationId = 'int_1', pipelineId = 'pl_1'): Promise<void> {
    const none = async () => (await this.log.lag(eventsTopic(pipelineId), integrationId)).waiting === 0;
    await until(async () => {
      if (!(await none())) return false;
      // The lag falls as a commit is built; behind the next one it is true.
      const id = `${process.pid}-${performance.now()}-${this.#barriers++}`;
      await this.log.append([{ topic: 'barriers', records: [{ id, data: Buffer.from('-') }] }]);
      return none();
    });
  }
  async close(): Promise<void> {
    await this.deliver?.stop(500);
    for (const close of this.#closing.splice(0)) await close();
    await this.log.close();
    await rm(this.path, { recursive: true, force: true });
  }
}

/** The bound only ends what hangs. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('the condition was not met in time');
    await pause(5);
  }
}
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
