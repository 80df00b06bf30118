/** Wraps the log and calls back for each record that became durable. */
import type { Append, EventLog, LogRecord } from '@firsthand/server/stores/event-log/port.ts';

export function watchLog<L extends EventLog>(log: L, stored: (topic: string, records: readonly Pick<LogRecord, 'id'>[]) => void): L {
  const tell = (appends: readonly Append[] = []) => {
    for (const { topic, records } of appends) stored(topic, records);
  };
  const watched: Partial<EventLog> = {
    async append(appends) {
      const results = await log.append(appends);
      tell(appends);
      return results;
    },
    async ackAll(deliveries, more) {
      await log.ackAll(deliveries, more);
      tell(more?.appends);
    },
  };
  return new Proxy(log, {
    get(target, key) {
      const value = (Reflect.get(watched, key) ?? Reflect.get(target, key)) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
