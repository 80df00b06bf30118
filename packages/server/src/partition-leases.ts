import { ingestPartitions } from './partition.ts';
import type { Leases } from './stores/leases/port.ts';

/** Competes for each set of names by itself, and for the further sets that more partitions bring. So these move no lease of the others. */
export function shareSets(leases: Leases, sets: () => string[][], callbacks: Parameters<Leases['share']>[1]): { stop(): Promise<void> } {
  const shares: { stop(): Promise<void> }[] = [];
  const shareAll = () => {
    for (const names of sets().slice(shares.length)) shares.push(leases.share(names, callbacks));
  };
  shareAll();
  const unwatch = ingestPartitions.onChange(shareAll);
  return {
    async stop() {
      unwatch();
      await Promise.all(shares.map((share) => share.stop()));
    },
  };
}
