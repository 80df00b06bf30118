/**
 * Caches each pipeline's files and their content in memory. Serving queries the database occasionally, not per request, and continues
 * without it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EncodedScript } from '../http/encodings.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { type BuiltFile, listFiles, readSource } from '../stores/config/collector-builds.ts';
import type { Db } from '../stores/config/schema.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import { BUILD_FINISHED_CHANNEL } from './channels.ts';
import { WeightedCache } from './weighted-cache.ts';

/** The builder announces new files. This covers a lost announcement. */
const FRESH_MS = 5_000;
/** How long to wait for a slow database when a cached list exists. */
const PATIENCE_MS = 250;
const LONG_AGO = Number.NEGATIVE_INFINITY;
const MAX_PIPELINES = 20_000;
const MAX_BYTES = 64 * 1_048_576;
/** Plain, gzip and br together. */
const BYTES_PER_CHARACTER = 2;

interface Listing {
  files: BuiltFile[];
  checkedAt: number;
}
export interface PublishedDeps {
  db: Db;
  ephemeral: Ephemeral;
  clock: Pick<Clock, 'monotonic'>;
  logger: Logger;
}
export interface Published {
  /** Newest first. Rejects only if nothing is cached and the database is unavailable. */
  files(pipelineId: string): Promise<BuiltFile[]>;
  script(buildId: string): Promise<EncodedScript | undefined>;
  stop(): void;
}

export function openPublished({ db, ephemeral, clock, logger }: PublishedDeps): Published {
  const listings = new WeightedCache<Listing>(MAX_PIPELINES);
  const scripts = new WeightedCache<EncodedScript>(MAX_BYTES);
  let told = 0;
  const underway = new Map<string, Promise<unknown>>();

  /** Concurrent requests share one query. */
  function once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    let asked = underway.get(key) as Promise<T> | undefined;
    if (asked === undefined) underway.set(key, (asked = ask().finally(() => underway.delete(key))));
    return asked;
  }
  const list = (pipelineId: string) =>
    once(pipelineId, async () => {
      const before = told;
      const checkedAt = clock.monotonic();
      const files = await listFiles(db, pipelineId);
      // An announcement during the query may not be in its result, so the list counts as stale.
      listings.set(pipelineId, { files, checkedAt: told === before ? checkedAt : LONG_AGO }, 1);
      return files;
    });
  const forget = ephemeral.subscribe(BUILD_FINISHED_CHANNEL, (pipelineId) => {
    const known = typeof pipelineId === 'string' ? listings.get(pipelineId) : undefined;
    told++;
    if (known !== undefined) known.checkedAt = LONG_AGO;
  });

  return {
    async files(pipelineId) {
      const known = listings.get(pipelineId);
      if (known === undefined) return await list(pipelineId);
      if (clock.monotonic() - known.checkedAt < FRESH_MS) return known.files;
      const fresh = list(pipelineId).catch((error: unknown) => {
        // Query again only after a while. Until then the cached files are served at once.
        known.checkedAt = clock.monotonic();
        logger.warn({ err: error, pipeline_id: pipelineId }, 'collector files are served from memory');
        return known.files;
      });
      return await Promise.race([fresh, sleep(PATIENCE_MS, known.files, { ref: false })]);
    },
    async script(buildId) {
      const known = scripts.get(buildId);
      if (known !== undefined) return known;
      return await once(buildId, async () => {
        const row = await readSource(db, buildId);
        if (row === undefined) return undefined;
        const script = new EncodedScript(row.source);
        scripts.set(buildId, script, row.source.length * BYTES_PER_CHARACTER);
        return script;
      });
    },
    stop: forget,
  };
}
