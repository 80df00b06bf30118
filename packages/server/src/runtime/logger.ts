import { type DestinationStream, type Logger, pino } from 'pino';
import { createFaultLimit, type OutageOf } from './fault-limit.ts';

export type { Logger };

interface LoggerOptions {
  /** Names the dependency whose outage an error reports: its lines are limited together, and have no stack. */
  outageOf?: OutageOf;
  /** Written in each line. The main thread has no name. */
  thread?: string;
  /** Default: standard output. */
  destination?: DestinationStream;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * Writes JSON lines to standard output. Ids and durations go into fields; never log payloads, secrets or e-mail addresses. Warnings and errors
 * with an `err` are limited to one line per minute and fault; the next line says how many were left out.
 */
export function createLogger(level: string, { outageOf, thread, destination, now = () => performance.now() }: LoggerOptions = {}): Logger {
  const limit = createFaultLimit(now, outageOf);
  return pino(
    {
      level,
      base: thread === undefined ? null : { thread },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, level) {
          const [fields, message] = args as [unknown, unknown];
          const allowed = limit(level, fields, message);
          if (allowed === undefined) return;
          // The hook's types know only the arguments of a format string.
          method.apply(this, (allowed === fields ? args : [allowed, ...args.slice(1)]) as Parameters<typeof method>);
        },
      },
    },
    destination ?? pino.destination(1),
  );
}
