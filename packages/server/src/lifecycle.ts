/**
 * The process from start to exit. Exit code 0: stopped by a signal. Exit code 1: bad start, uncaught exception or failed stop.
 *
 * An uncaught exception leaves unknown state behind, so the process must not go on. It drains first: requests in flight get their
 * answer, and deliveries in flight are settled. Unfinished work is in the event log and continues at the next start.
 */
import type { Logger } from './runtime/logger.ts';

export interface Running {
  /** Resolves when every role has begun. Events may be accepted before, so that a signal drains. */
  begun: Promise<void>;
  /** Lines for the person who started the process. */
  greeting: string[];
  /** Time that `stop` waits on purpose before it begins to close. */
  drainDelayMs: number;
  /** Without the log a stop has nothing to wait for: what is not stored yet is sent or processed again by the next process. */
  logAvailable(): boolean;
  stop(): Promise<void>;
}
/** Half a second less than the ten seconds that container runtimes commonly wait before they kill. */
const STOP_WITHIN_MS = 9_500;
/** In-flight requests may still end while the log is away. */
const WITHOUT_LOG_MS = 2_500;
const LOOK_EVERY_MS = 250;

export async function runUntilStopped(logger: Pick<Logger, 'fatal' | 'error' | 'warn'>, start: () => Promise<Running>): Promise<void> {
  let running: Running | undefined;
  let stopping = false;
  let exitCode = 0;

  function stop(): void {
    // While starting, nothing was accepted that could be lost.
    if (running === undefined) process.exit(exitCode);
    // npm passes on a signal that the terminal has already sent to the whole group: the second one changes nothing.
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(exitCode), running.drainDelayMs + STOP_WITHIN_MS).unref();
    endWithoutLog(running);
    running.stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        logger.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  }

  /** Looks again and again: the log may go away during the stop. */
  function endWithoutLog({ logAvailable }: Running): void {
    let awayMs = 0;
    setInterval(() => {
      awayMs = logAvailable() ? 0 : awayMs + LOOK_EVERY_MS;
      if (awayMs < WITHOUT_LOG_MS) return;
      logger.warn('event log unavailable, exiting without waiting for it');
      process.exit(exitCode);
    }, LOOK_EVERY_MS).unref();
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  // Unhandled rejections arrive here too.
  process.on('uncaughtException', (error, origin) => {
    exitCode = 1;
    logger.fatal({ err: error, origin }, 'uncaught exception, draining and exiting');
    stop();
  });
  try {
    running = await start();
    await running.begun;
    if (stopping) return;
    for (const line of running.greeting) console.log(line);
  } catch (error) {
    console.error(`Firsthand could not start: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  }
}
