import { isConnectionLost } from './config/availability.ts';
import { LogUnavailable } from './event-log/port.ts';

/** Errors of the NATS client while the broker is away or without quorum. */
const NATS_AWAY = new Set([
  'ClosedConnectionError',
  'ConnectionError',
  'DrainingConnectionError',
  'NoRespondersError',
  'RequestError',
  'TimeoutError',
]);

/** The store whose outage an error reports. */
export function outageOf(error: Error): 'event log' | 'database' | undefined {
  if (error instanceof LogUnavailable || NATS_AWAY.has(error.name)) return 'event log';
  return isConnectionLost(error) ? 'database' : undefined;
}
