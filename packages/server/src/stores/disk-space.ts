/** How much of the embedded stores' files holds data, and how much is free inside them. Retention frees space there: the files do not shrink. */
import { closeSync, openSync, readSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';

export interface DiskSpace {
  used: number;
  /** Free inside the file. New data is written there before the file grows. */
  reusable: number;
}
/** By name of the store. */
export type SpaceReaders = Record<string, () => DiskSpace>;

export function registerSpaceGauge(registry: Registry, readers: SpaceReaders): void {
  new Gauge({
    name: 'firsthand_store_bytes',
    help: 'Size of the embedded stores on disk: space that holds data (used), and space that retention has freed for new data (reusable).',
    labelNames: ['store', 'state'],
    registers: [registry],
    collect() {
      for (const [store, read] of Object.entries(readers)) {
        const { used, reusable } = read();
        this.set({ store, state: 'used' }, used);
        this.set({ store, state: 'reusable' }, reusable);
      }
    },
  });
}

const HEADER_BYTES = 100;

/**
 * Reads the header of a SQLite file, which is as old as the last checkpoint.
 *
 * The file stays open until `close`, and `close` comes after SQLite's own connections. POSIX drops all locks of a process on a file when
 * the process closes any descriptor of it. Without SQLite's locks another process, such as `firsthand backup`, would take itself for the
 * last connection and delete the live WAL. (SQLite from 3.51 on, in newer releases of Node.js, notices; earlier ones do not.)
 */
export function openSqliteSpace(file: string): { read(): DiskSpace; close(): Promise<void> } {
  const header = Buffer.alloc(HEADER_BYTES);
  const opened = openSync(file, 'r');
  return {
    read() {
      if (readSync(opened, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { used: 0, reusable: 0 };
      // The page size 65,536 is stored as 1.
      const stored = header.readUInt16BE(16);
      const pageBytes = stored === 1 ? 65_536 : stored;
      const reusable = header.readUInt32BE(36) * pageBytes;
      return { used: header.readUInt32BE(28) * pageBytes - reusable, reusable };
    },
    close: async () => closeSync(opened),
  };
}
