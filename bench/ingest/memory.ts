import { readFileSync } from 'node:fs';

/** Private memory in megabytes: the log's mapped file is the page cache's, not ours. */
export function rssAnonMb(pid: number | 'self'): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}
