import { readFileSync } from 'node:fs';

/** Private memory in MB. The log's mapped file is page cache and does not count. */
export function rssAnonMb(pid: number | 'self'): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}
