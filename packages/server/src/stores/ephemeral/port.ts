/** Best-effort messages (frames) for live debugging and hints. Uses an emitter in one process, and NATS core subjects at scale. */
export interface Ephemeral {
  /** `smaller`: what to send where the engine does not take a message of that size. */
  publish(channel: string, message: unknown, smaller?: () => unknown): void;
  subscribe(channel: string, listener: (message: unknown) => void): () => void;
  close(): Promise<void>;
}
