import type { Leases } from '../../stores/leases/port.ts';

const PARTS = 16;

/**
 * The integrations that this process owns. Each belongs to one process at a time, so that its rate limit, concurrency cap
 * and batches hold across the cluster. Without leases this process owns all of them.
 */
export function leaseIntegrations(
  leases: Leases | undefined,
  changed: { won(): void; lost(): Promise<void> },
): { owns(integrationId: string): boolean; stop(): Promise<void> } {
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
  return { owns: (integrationId) => won.has(`deliver.${partOf(integrationId)}`), stop: () => share.stop() };
}

/** FNV-1a: every process and version must agree. */
export function partOf(integrationId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < integrationId.length; i++) hash = Math.imul(hash ^ integrationId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % PARTS;
}
