import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
/** Private memory of a process in MB. Mapped files do not count. */
export function privateMb(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}
/** CPU time of a process so far, in milliseconds. */
export function cpuMs(pid: number): number {
  // The fields after the name, which may contain spaces and brackets. A tick is 10 ms.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
/** Bytes on disk of all files in a folder. */
export function diskBytes(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) {
      try {
        sum += statSync(join(entry.parentPath, entry.name)).blocks * 512;
      } catch {
        // Removed since it was listed.
      }
    }
  return sum;
}
/** Slope by least squares. */
export function slope(points: { x: number; y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const top = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  return top / points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
}
/** Samples a process's private memory; `peak` is the maximum. */
export function watchMemory(pid: () => number | undefined): { peak: number; points: { x: number; y: number }[]; stop(): void } {
  const began = performance.now();
  const watch = {
    peak: 0,
    points: [] as { x: number; y: number }[],
    stop: () => clearInterval(timer),
  };
  const timer = setInterval(() => {
    const now = pid();
    if (now === undefined) return;
    try {
      const y = privateMb(now);
      watch.peak = Math.max(watch.peak, y);
      watch.points.push({ x: (performance.now() - began) / 60_000, y });
    } catch {
      // The process is restarting.
    }
  }, 100);
  return watch;
}
