/**
 * The ingest part of the configuration, kept in DATA_DIR, so that ingest can start while PostgreSQL is unavailable. It holds the pipelines
 * with their key secrets and the webhook sources with their signing secrets; no integration, no pipeline parameter, no vendor credential.
 * Sealed under SECRET_KEY, mode 0600, replaced atomically.
 */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { turns } from '../../runtime/turns.ts';
import { deriveKey } from '../../secrets/keys.ts';
import { seal, unseal } from '../../secrets/seal.ts';
import { makeFolder } from '../make-folder.ts';
import type { PipelineWithSecrets, VersionedRows } from './load-config.ts';

export const LOCAL_COPY_FILE = 'ingest-configuration';
const CONTEXT = 'ingest-configuration v1';
const TABLES = ['organisations', 'pipelines', 'webhook_sources'] as const;
type Table = (typeof TABLES)[number];

export interface LocalCopy {
  /** Undefined where there is no copy. Throws if the file is damaged or sealed under another SECRET_KEY. */
  read(): Promise<SavedConfig | undefined>;
  /** `rows` must be complete: every head with its row. */
  write(rows: Pick<VersionedRows, 'version' | 'urgent_version' | Table>): Promise<void>;
}
export interface SavedConfig {
  /** ISO 8601. */
  saved_at: string;
  rows: VersionedRows;
}

export function openLocalCopy({ dataDir, secretKey, now }: { dataDir: string; secretKey: string; now: () => number }): LocalCopy {
  const file = join(dataDir, LOCAL_COPY_FILE);
  const key = deriveKey(secretKey, 'local-copy');
  return {
    async read() {
      const sealed = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (sealed === undefined) return undefined;
      const packed = unseal(key, CONTEXT, sealed);
      if (packed === undefined) throw new Error(`${file} was sealed under another SECRET_KEY or is damaged`);
      const [head = '{}', ...lines] = (await promisify(gunzip)(packed)).toString('utf8').split('\n');
      const { saved_at, version, urgent_version } = JSON.parse(head) as { saved_at: string; version: number; urgent_version: number };
      const rows: VersionedRows = {
        version,
        urgent_version,
        organisations: [],
        pipelines: [],
        integrations: [],
        transformations: [],
        webhook_sources: [],
      };
      for (const line of lines) {
        const [table, row] = JSON.parse(line) as [Table, never];
        rows[table].push(row);
      }
      return { saved_at, rows };
    },
    async write(rows) {
      const head = { saved_at: new Date(now()).toISOString(), version: rows.version, urgent_version: rows.urgent_version };
      const lines = [JSON.stringify(head)];
      for (const table of TABLES)
        for (const each of rows[table]) {
          const row = table === 'pipelines' ? { ...each, row: forIngest(each.row as PipelineWithSecrets) } : each;
          lines.push(JSON.stringify([table, row]));
          const turn = turns.bulk();
          if (turn !== undefined) await turn;
        }
      const packed = await promisify(gzip)(lines.join('\n'));
      await replaceFile(dataDir, file, seal(key, CONTEXT, packed));
    },
  };
}

/** Ingest reads neither the tracking plan nor the parameters, which hold vendor credentials. */
function forIngest(row: PipelineWithSecrets): PipelineWithSecrets {
  return { ...row, tracking_plan: null, parameters: {} };
}

/** Several processes may share DATA_DIR: each writes its own draft, and the last rename wins. */
async function replaceFile(dataDir: string, file: string, text: string): Promise<void> {
  makeFolder(dataDir);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
