/** Frames that may be lost: live debugging, hints. In one process an emitter, at scale NATS core subjects. */
export interface Ephemeral {
  publish(channel: string, message: unknown): void;
  subscribe(channel: string, listener: (message: unknown) => void): () => void;
  close(): Promise<void>;
}
