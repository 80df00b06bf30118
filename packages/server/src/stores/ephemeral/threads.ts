import type { ThreadLink } from '../../runtime/thread-link.ts';
import { inProcessEphemeral } from './in-process.ts';
import type { Ephemeral } from './port.ts';

/** Another thread, and what is heard there and here. */
interface Neighbour {
  link: ThreadLink;
  /** Channels that it listens to. */
  hears: Set<string>;
  /** Listeners to a channel here and in the threads beyond. It is told while there are any. */
  wanted: Map<string, number>;
}

/**
 * Passes frames between the roles of several threads. Only channels that a thread listens to cross over to it. With several links this thread
 * also passes frames from one of them to the others: threads form a star.
 */
export function threadsEphemeral(links: readonly ThreadLink[], options: { onError?: (error: unknown) => void } = {}): Ephemeral {
  const own = inProcessEphemeral(options);
  const neighbours = links.map((link): Neighbour => ({ link, hears: new Set(), wanted: new Map() }));
  const publishTo = (others: readonly Neighbour[], channel: string, message: unknown) => {
    for (const { link, hears } of others) if (hears.has(channel)) link.tell('frames.publish', [channel, message]);
  };
  const listen = (others: readonly Neighbour[], channel: string) => {
    for (const { link, wanted } of others) {
      const count = wanted.get(channel) ?? 0;
      wanted.set(channel, count + 1);
      if (count === 0) link.tell('frames.listen', channel);
    }
  };
  const ignore = (others: readonly Neighbour[], channel: string) => {
    for (const { link, wanted } of others) {
      const left = wanted.get(channel)! - 1;
      if (left > 0) wanted.set(channel, left);
      else {
        wanted.delete(channel);
        link.tell('frames.ignore', channel);
      }
    }
  };
  for (const neighbour of neighbours) {
    const others = neighbours.filter((other) => other !== neighbour);
    neighbour.link.on('frames.listen', (channel: string) => {
      neighbour.hears.add(channel);
      listen(others, channel);
    });
    neighbour.link.on('frames.ignore', (channel: string) => {
      neighbour.hears.delete(channel);
      ignore(others, channel);
    });
    neighbour.link.on('frames.publish', ([channel, message]: [string, unknown]) => {
      own.publish(channel, message);
      publishTo(others, channel, message);
    });
  }
  return {
    publish(channel, message) {
      own.publish(channel, message);
      publishTo(neighbours, channel, message);
    },
    subscribe(channel, listener) {
      const end = own.subscribe(channel, listener);
      listen(neighbours, channel);
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        end();
        ignore(neighbours, channel);
      };
    },
    close: () => own.close(),
  };
}
