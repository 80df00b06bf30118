import type { ThreadLink } from '../../runtime/thread-link.ts';
import { inProcessEphemeral } from './in-process.ts';
import type { Ephemeral } from './port.ts';

/** Passes frames between the roles of two threads. Only channels that the other thread listens to cross over. */
export function threadsEphemeral(link: ThreadLink, options: { onError?: (error: unknown) => void } = {}): Ephemeral {
  const own = inProcessEphemeral(options);
  const heardThere = new Set<string>();
  const heardHere = new Map<string, number>();
  link.on('frames.listen', (channel: string) => void heardThere.add(channel));
  link.on('frames.ignore', (channel: string) => void heardThere.delete(channel));
  link.on('frames.publish', ([channel, message]: [string, unknown]) => own.publish(channel, message));
  return {
    publish(channel, message) {
      own.publish(channel, message);
      if (heardThere.has(channel)) link.tell('frames.publish', [channel, message]);
    },
    subscribe(channel, listener) {
      const end = own.subscribe(channel, listener);
      const count = heardHere.get(channel) ?? 0;
      heardHere.set(channel, count + 1);
      if (count === 0) link.tell('frames.listen', channel);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        end();
        const left = heardHere.get(channel)! - 1;
        if (left > 0) heardHere.set(channel, left);
        else {
          heardHere.delete(channel);
          link.tell('frames.ignore', channel);
        }
      };
    },
    close: () => own.close(),
  };
}
