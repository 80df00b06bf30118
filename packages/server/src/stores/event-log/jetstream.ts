import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { JetStreamLog } from './jetstream/log.ts';
import type { EventLog } from './port.ts';

export { connectNats } from './jetstream/connection.ts';

export interface JetStreamLogOptions {
  /** From `connectNats`. Closing the log does not close the connection. */
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  clock?: Clock;
  /** A consumer's handler threw, or the broker did not answer. Both are retried. */
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
}

/** The event log at scale: topics are NATS JetStream streams, groups are durable consumers. */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<EventLog> {
  return new JetStreamLog({ ...options, clock: options.clock ?? systemClock });
}
