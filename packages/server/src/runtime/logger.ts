import { type Logger, pino } from 'pino';

export type { Logger };

/** Structured lines on standard output; ids and durations as fields, never payloads, secrets or e-mail addresses. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } });
}
