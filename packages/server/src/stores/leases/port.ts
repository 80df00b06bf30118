/** Exclusive ownership of names among processes. Embedded mode has one process; at scale it is a compare-and-set in JetStream KV. */
export interface Leases {
  /**
   * Competes with other processes for a fair share of `names`, and calls back when a name is won or lost. Names of a dead process are
   * taken over within 10 s. `lost` must stop the work before it resolves.
   */
  share(names: string[], callbacks: { won(name: string): Promise<void>; lost(name: string): Promise<void> }): { stop(): Promise<void> };
  close(): Promise<void>;
}
