import { duration } from '../parsers.ts';
import { setting } from '../setting.ts';

export const RETENTION_AND_RETRIES = {
  dedupWindowMs: setting({
    variable: 'DEDUP_WINDOW',
    default: { from: (value) => (value('NATS_URL') === undefined ? '24h' : '10m'), shown: '`24h`; `10m` on JetStream' },
    parser: duration,
    meaning: 'How long a `messageId` is remembered for deduplication.',
  }),
  eventRetentionMs: setting({
    variable: 'EVENT_RETENTION',
    default: '7d',
    parser: duration,
    meaning: 'How long processed events are kept for replay and traces.',
  }),
  deadLetterRetentionMs: setting({
    variable: 'DEAD_LETTER_RETENTION',
    default: '7d',
    parser: duration,
    meaning: 'How long dead letters are kept.',
  }),
  retryBaseMs: setting({
    variable: 'RETRY_BASE',
    default: '1s',
    parser: duration,
    meaning: 'Unit of the retry schedule 1, 4, 16, 64, 256.',
  }),
};
