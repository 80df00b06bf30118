import type { NatsConnection } from '@nats-io/transport-node';
import { maxPayloadOf } from '../event-log/jetstream/connection.ts';
import type { Ephemeral } from './port.ts';

/** Sends frames between processes as plain NATS messages in JSON. Frames are dropped, not buffered, while disconnected. */
export function natsEphemeral(options: { connection: NatsConnection; onError?: (error: unknown) => void }): Ephemeral {
  const { connection } = options;
  const ends = new Set<() => void>();
  let connected = true;
  let closed = false;
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') connected = false;
      else if (status.type === 'reconnect') connected = true;
    }
  })();
  return {
    publish(channel, message, smaller) {
      if (closed || !connected || connection.isClosed()) return;
      try {
        const text = JSON.stringify(message) ?? 'null';
        const fits = Buffer.byteLength(text) <= maxPayloadOf(connection);
        connection.publish(subjectOf(channel), fits || smaller === undefined ? text : JSON.stringify(smaller()));
      } catch (error) {
        // The frame is too large for the server or cannot be serialised as JSON. Frames may be lost.
        options.onError?.(error);
      }
    },
    subscribe(channel, listener) {
      const subscription = connection.subscribe(subjectOf(channel), {
        callback: (error, msg) => {
          try {
            if (error) throw error;
            listener(JSON.parse(msg.string()));
          } catch (failure) {
            options.onError?.(failure);
          }
        },
      });
      const end = () => {
        if (ends.delete(end) && !connection.isClosed()) subscription.unsubscribe();
      };
      ends.add(end);
      return end;
    },
    async close() {
      closed = true;
      for (const end of ends) end();
    },
  };
}

/** A channel may be any text, but a subject token may not, so the channel is encoded. */
function subjectOf(channel: string): string {
  return `firsthand.ephemeral.${Buffer.from(channel).toString('base64url') || '_'}`;
}
