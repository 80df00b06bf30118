import { hash, randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { LeaseBucket } from './bucket.ts';
import type { Leases } from './port.ts';
import { BEAT_MS, Share } from './share.ts';

export interface KvLeasesOptions {
  connection: NatsConnection;
  replicas: number;
  clock?: Clock;
  onError?: (error: unknown) => void;
}

/** Leases among processes: keys in a JetStream bucket that expire unless their owner renews them in time. */
export function openKvLeases(options: KvLeasesOptions): Leases {
  const bucket = new LeaseBucket(options.connection, options.replicas);
  const own = randomUUID();
  const shares = new Set<Share>();
  const beats = setInterval(() => {
    for (const share of shares) share.beat();
  }, BEAT_MS);
  return {
    share(names, callbacks) {
      const set = hash('sha256', JSON.stringify([...names].sort()), 'hex').slice(0, 16);
      const share = new Share({
        bucket,
        own,
        set,
        names,
        callbacks,
        clock: options.clock ?? systemClock,
        onError: options.onError ?? (() => {}),
      });
      shares.add(share);
      return {
        async stop() {
          shares.delete(share);
          await share.stop();
        },
      };
    },
    async close() {
      await Promise.all([...shares].map((share) => share.stop()));
      shares.clear();
      clearInterval(beats);
      bucket.close();
    },
  };
}
