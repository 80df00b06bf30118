import { type Logger, pino } from 'pino';

export type { Logger };

/** Writes JSON lines to standard output. Ids and durations go into fields; never log payloads, secrets or e-mail addresses. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } });
}
