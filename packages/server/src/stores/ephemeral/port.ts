/** Best-effort messages (frames) for live debugging and hints. Uses an emitter in one process, and NATS core subjects at scale. */
export interface Ephemeral {
  publish(channel: string, message: unknown): void;
  subscribe(channel: string, listener: (message: unknown) => void): () => void;
  close(): Promise<void>;
}
