import { fnv1a } from '@firsthand/core/hash/fnv1a.ts';
import type { Leases } from '../../stores/leases/port.ts';
import type { Lane } from './lanes.ts';

const PARTS = 16;

/**
 * The lanes of integrations that this process owns. Each belongs to one process at a time, so that its order, concurrency cap and
 * batches hold across the cluster. Without leases this process owns all of them.
 */
export function leaseIntegrations(
  leases: Leases | undefined,
  changed: { won(): void; lost(): Promise<void> },
): { owns(lane: Lane): boolean; stop(): Promise<void> } {
  if (!leases) return { owns: () => true, stop: async () => undefined };
  const won = new Set<string>();
  const names = Array.from({ length: PARTS }, (_, part) => `deliver.${part}`);
  const share = leases.share(names, {
    async won(name) {
      won.add(name);
      changed.won();
    },
    async lost(name) {
      won.delete(name);
      await changed.lost();
    },
  });
  return { owns: (lane) => won.has(`deliver.${partOf(lane)}`), stop: () => share.stop() };
}

/** Every process and version must agree. Lanes are far apart, because processes tend to own neighbouring parts. */
export function partOf({ integrationId, index, count }: Pick<Lane, 'integrationId' | 'index' | 'count'>): number {
  return (fnv1a(integrationId) + Math.floor((index * PARTS) / count)) % PARTS;
}
