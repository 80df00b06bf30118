/** Ingest's local copy of the configuration: read when PostgreSQL is unavailable at the start, rewritten after each load. */
import type { Settings } from './config.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import type { LoadedRows } from './snapshot/source.ts';
import { openLocalCopy, type SavedConfig } from './stores/config/local-copy.ts';

/** Undefined where there is no readable copy: the process then waits for PostgreSQL. */
export async function readLocalCopy(
  { dataDir, secretKey }: Pick<Settings, 'dataDir' | 'secretKey'>,
  logger: Logger,
): Promise<SavedConfig | undefined> {
  if (secretKey === undefined) return undefined;
  try {
    const saved = await openLocalCopy({ dataDir, secretKey, now: () => 0 }).read();
    if (saved !== undefined)
      logger.warn(
        { saved_at: saved.saved_at, version: saved.rows.version },
        'PostgreSQL unavailable, accepting events with the saved configuration',
      );
    return saved;
  } catch (error) {
    logger.warn({ err: error }, 'saved configuration not readable, waiting for PostgreSQL');
    return undefined;
  }
}

/** One write at a time; of the loads during a write only the last is written. */
export function keepLocalCopy(
  { dataDir }: Pick<Settings, 'dataDir'>,
  secretKey: string,
  clock: Clock,
  logger: Logger,
): (rows: LoadedRows) => void {
  const copy = openLocalCopy({ dataDir, secretKey, now: clock.now });
  let next: LoadedRows | undefined;
  let writing = false;
  async function writeAll(): Promise<void> {
    while (next !== undefined) {
      const rows = next;
      next = undefined;
      await copy.write(rows);
    }
  }
  return (rows) => {
    next = rows;
    if (writing) return;
    writing = true;
    writeAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'configuration not saved locally'))
      .finally(() => {
        writing = false;
      });
  };
}
