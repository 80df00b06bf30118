import type { Leases } from './port.ts';

/** Leases for a single process: it wins every name at once and loses it only when it stops. */
export function embeddedLeases(options: { onError?: (error: unknown, name: string) => void } = {}): Leases {
  const running = new Set<{ stop(): Promise<void> }>();
  const report = (name: string) => (error: unknown) => options.onError?.(error, name);
  return {
    share(names, callbacks) {
      const won = new Map(names.map((name) => [name, Promise.resolve().then(() => callbacks.won(name))]));
      for (const [name, winning] of won) winning.catch(report(name));
      let stopped: Promise<void> | undefined;
      const shared = {
        stop() {
          running.delete(shared);
          stopped ??= Promise.all(
            [...won].map(async ([name, winning]) => {
              // `won` must finish before `lost` is called. Its failure is reported above.
              await winning.catch(() => {});
              await callbacks.lost(name).catch(report(name));
            }),
          ).then(() => {});
          return stopped;
        },
      };
      running.add(shared);
      return shared;
    },
    async close() {
      await Promise.all([...running].map((shared) => shared.stop()));
    },
  };
}
