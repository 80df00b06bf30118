import type { NatsConnection } from '@nats-io/transport-node';
import type { PartitionEpoch } from '../../partition.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { openLayout, watchLayout } from './jetstream/layout-store.ts';
import { JetStreamLog } from './jetstream/log.ts';
import type { EventLog } from './port.ts';

export { connectNats } from './jetstream/connection.ts';
export { earlierLayout } from './jetstream/layout-store.ts';

export interface JetStreamLogOptions {
  /** From `connectNats`. Closing the log does not close the connection. */
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  /** The number of streams that share the busy topics. Fixed when an installation is created. */
  streams?: number;
  /** A higher number than the stored one raises the number of ingest partitions. */
  partitions?: number | undefined;
  /** Called at the start, and when another process has raised the number. */
  onPartitions?: (epochs: readonly PartitionEpoch[]) => void;
  clock?: Clock;
  /** A consumer's handler threw, or the broker did not answer. Both are retried. */
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  /** Nothing is lost: a setting differs from what the installation was created with, or an optional part fails with `error`. */
  onWarning?: (message: string, error?: unknown) => void;
}

const DEFAULT_STREAMS = 3;

/** The event log at scale: record batches in NATS JetStream streams, and a stored cursor per group. */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<EventLog> {
  const { connection, onPartitions, onWarning, partitions, replicas } = options;
  const wanted = options.streams ?? DEFAULT_STREAMS;
  const layout = await openLayout(connection, { replicas, streams: wanted, partitions, onWarning });
  const { streams } = layout;
  if (options.streams !== undefined && streams !== wanted)
    onWarning?.(`NATS_STREAMS: ${wanted} is ignored, this installation was created with ${streams}`);
  onPartitions?.(layout.partitions);
  const watch = onPartitions && watchLayout(connection, (next) => onPartitions(next.partitions));
  return new JetStreamLog({ ...options, streams, clock: options.clock ?? systemClock, onClose: () => watch?.stop() });
}
