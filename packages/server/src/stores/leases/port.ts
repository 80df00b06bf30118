/** Exclusive ownership by name among processes: embedded there is one process, at scale a compare-and-set in JetStream KV. */
export interface Leases {
  /**
   * Competes for a fair share of `names` among the processes that do the same, and calls back as each is won or lost.
   * A dead process's names are taken over within 10 s. `lost` must stop the work before it resolves.
   */
  share(names: string[], callbacks: { won(name: string): Promise<void>; lost(name: string): Promise<void> }): { stop(): Promise<void> };
  close(): Promise<void>;
}
