import { LAGGING_PREFIX, type PartitionMap, PROCESS_GROUP } from '../../partition.ts';
import type { EventLog } from '../../stores/event-log/port.ts';

/** Events that a process received before the change are stored by now. */
const SWITCH_GRACE_MS = 10_000;
type Log = Pick<EventLog, 'groups' | 'lag' | 'read'>;

/** Whether all earlier events of the topic's visitors are processed, also those in the partition that held them before. */
export async function mayRead(partitions: PartitionMap, topic: string, log: Log, now: number): Promise<boolean> {
  const parent = partitions.parentOf(topic);
  if (!parent) return true;
  const end = parent.until + SWITCH_GRACE_MS;
  if (now < end || !(await mayRead(partitions, parent.topic, log, now))) return false;
  const groups = (await log.groups(parent.topic)).filter((group) => group === PROCESS_GROUP || group.startsWith(LAGGING_PREFIX));
  if (!groups.includes(PROCESS_GROUP)) {
    for await (const { time } of log.read(parent.topic, { limit: 1 })) return time > end;
    return true;
  }
  const lags = await Promise.all(groups.map((group) => log.lag(parent.topic, group)));
  return lags.every(({ waiting, oldest }) => waiting === 0 || (oldest ?? 0) > end);
}
