import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { JetStreamLog } from './jetstream/log.ts';
import type { EventLog } from './port.ts';

export { connectNats } from './jetstream/connection.ts';

export interface JetStreamLogOptions {
  /** From `connectNats`; it stays open when the log is closed. */
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  clock?: Clock;
  /** A handler of a consumer threw, or the broker did not answer it; both are tried again. */
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
}

/** The log at scale: streams of NATS JetStream, groups as durable consumers. */
export async function openJetStreamLog(options: JetStreamLogOptions): Promise<EventLog> {
  return new JetStreamLog({ ...options, clock: options.clock ?? systemClock });
}
