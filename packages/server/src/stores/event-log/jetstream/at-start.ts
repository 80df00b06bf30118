import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { LogUnavailable } from '../port.ts';

const AGAIN_MS = 250;
/** A start that waits longer than this says so, and again every minute. */
const WARN_AFTER_MS = 5_000;
const WARN_EVERY_MS = 60_000;

/** Repeats a step of the start until JetStream serves it: after a restart of the brokers each stream elects its leader for itself. */
export async function persistAtStart<T>(
  connection: NatsConnection,
  step: () => Promise<T>,
  onWarning?: (message: string, error: unknown) => void,
): Promise<T> {
  let warnedAt = performance.now() - WARN_EVERY_MS + WARN_AFTER_MS;
  while (!connection.isClosed()) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error;
      if (performance.now() - warnedAt > WARN_EVERY_MS) {
        warnedAt = performance.now();
        onWarning?.('NATS_URL: JetStream does not answer, waiting', error);
      }
      await sleep(AGAIN_MS);
    }
  }
  throw new LogUnavailable('the connection to NATS is closed');
}
