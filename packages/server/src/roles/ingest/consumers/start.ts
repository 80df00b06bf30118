/** The sources that this process reads from brokers. Each belongs to one process at a time. */
import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';
import type { Registry } from 'prom-client';
import { SOURCE_STATUS_CHANNEL, type SourceStatusNotice } from '../../../channels.ts';
import type { CompiledWebhookSource } from '../../../snapshot/webhook-source.ts';
import type { Ephemeral } from '../../../stores/ephemeral/port.ts';
import type { Leases } from '../../../stores/leases/port.ts';
import { CONSUMERS } from '../../../transports/consumers/drivers.ts';
import type { OpenConsumer } from '../../../transports/consumers/port.ts';
import type { DriverOptions } from '../../../transports/port.ts';
import { ConsumerLoop, type LoopContext } from './consumer-loop.ts';
import { registerSourceGauges } from './source-gauges.ts';

const PARTS = 16;
const STATUS_MS = 2_000;

export interface ConsumerDeps {
  leases?: Leases;
  ephemeral?: Ephemeral;
  registry?: Registry;
  driver: DriverOptions;
  /** Replaced in tests. */
  open?: OpenConsumer;
}

export function startConsumers(ctx: LoopContext, deps: ConsumerDeps): { stop(): Promise<void> } {
  const loops = new Map<string, ConsumerLoop>();
  const ending = new Map<string, Promise<void>>();
  const won = new Set<string>();
  let stopped = false;

  const owns = (id: string) => deps.leases === undefined || won.has(partOf(id));
  const wanted = ({ source }: CompiledWebhookSource) =>
    source.kind !== 'webhook' && source.enabled && ctx.snapshots.current().pipelines.get(source.pipeline_id)?.ingest.enabled === true;

  function end(id: string, loop: ConsumerLoop): Promise<void> {
    loops.delete(id);
    const done = loop.stop().finally(() => {
      ending.delete(id);
      reconcile();
    });
    ending.set(id, done);
    return done;
  }
  function reconcile(): void {
    const { webhookSources } = ctx.snapshots.current();
    for (const [id, loop] of loops) {
      const compiled = webhookSources.get(id);
      // A change of any setting starts the source again, at the first unacknowledged message.
      if (stopped || compiled !== loop.compiled || !wanted(compiled) || !owns(id)) void end(id, loop);
    }
    if (stopped) return;
    for (const [id, compiled] of webhookSources)
      if (wanted(compiled) && owns(id) && !loops.has(id) && !ending.has(id))
        loops.set(id, new ConsumerLoop(ctx, compiled, opener(compiled)));
  }
  function opener({ source }: CompiledWebhookSource) {
    return async () => {
      const { kind, id, connection, signing_secret: secret } = source;
      if (kind === 'webhook') throw new Error('a webhook source has no broker');
      const open = deps.open ?? (await CONSUMERS[kind]());
      return open({ id, connection: connection ?? {}, secret }, deps.driver);
    };
  }

  const share = deps.leases?.share(
    Array.from({ length: PARTS }, (_, part) => `consume.${part}`),
    {
      async won(name) {
        won.add(name);
        reconcile();
      },
      async lost(name) {
        won.delete(name);
        reconcile();
        await Promise.all(ending.values());
      },
    },
  );
  const status = setInterval(() => {
    const sources = [...loops.values()].map((loop) => loop.status);
    if (sources.length > 0)
      deps.ephemeral?.publish(SOURCE_STATUS_CHANNEL, { sources, interval_ms: STATUS_MS } satisfies SourceStatusNotice);
  }, STATUS_MS);
  if (deps.registry) registerSourceGauges(deps.registry, () => loops.values());
  const unsubscribe = ctx.snapshots.onChange(reconcile);
  reconcile();
  return {
    async stop() {
      stopped = true;
      clearInterval(status);
      unsubscribe();
      reconcile();
      await Promise.all(ending.values());
      await share?.stop();
    },
  };
}

/** Every process and version must agree. */
function partOf(sourceId: string): string {
  return `consume.${fnv1a(sourceId) % PARTS}`;
}
