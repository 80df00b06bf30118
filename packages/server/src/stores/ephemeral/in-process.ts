import type { Ephemeral } from './port.ts';

/** Passes frames between the roles of one process. Listeners run asynchronously, never inside `publish`. */
export function inProcessEphemeral(options: { onError?: (error: unknown) => void } = {}): Ephemeral {
  const listeners = new Map<string, Set<(message: unknown) => void>>();
  let closed = false;
  return {
    publish(channel, message) {
      const interested = listeners.get(channel);
      if (!interested || closed) return;
      setImmediate(() => {
        for (const listener of interested) {
          try {
            listener(message);
          } catch (error) {
            options.onError?.(error);
          }
        }
      });
    },
    subscribe(channel, listener) {
      // The same function may subscribe twice; each subscription is cancelled separately.
      const own = (message: unknown) => listener(message);
      let interested = listeners.get(channel);
      if (!interested) listeners.set(channel, (interested = new Set()));
      interested.add(own);
      return () => {
        interested.delete(own);
        if (interested.size === 0 && listeners.get(channel) === interested) listeners.delete(channel);
      };
    },
    async close() {
      closed = true;
      for (const interested of listeners.values()) interested.clear();
      listeners.clear();
    },
  };
}
