import { duration, flag, ratio, readableFile, wholeNumber } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export const DELIVERY_AND_DATA = {
  allowPrivateDestinations: setting({
    variable: 'ALLOW_PRIVATE_DESTINATIONS',
    default: { from: (value) => (value('MODE') === 'production' ? 'false' : 'true'), shown: '`true`; `false` in production' },
    parser: flag,
    meaning: 'Whether deliveries may reach loopback and private addresses.',
  }),
  configReloadMs: setting({
    variable: 'CONFIG_RELOAD_INTERVAL',
    default: '5s',
    parser: duration,
    meaning:
      'How soon other processes apply a configuration change where PostgreSQL does not announce it. Disabling, deleting and rotating apply within 1 s.',
  }),
  traceSample: setting({
    variable: 'TRACE_SAMPLE',
    default: '1',
    parser: ratio,
    meaning:
      'Share of event traces that are kept above `TRACE_SAMPLE_ABOVE`, from 0 to 1. Statistics count every event. Drops, failed attempts and dead letters are always traced. Below 1, erasing a person does not find the log records of events without a trace: they stay for `EVENT_RETENTION`, or `retention_days` of their pipeline where that is longer.',
  }),
  traceSampleAbove: setting({
    variable: 'TRACE_SAMPLE_ABOVE',
    default: '1000',
    parser: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of events a second, 0 or more'),
    meaning: 'Events a second in one process with the process role up to which every event is traced.',
  }),
  geoipDb: optional({
    variable: 'GEOIP_DB',
    unset: 'no geolocation',
    parser: readableFile('an .mmdb file'),
    meaning: 'MaxMind database (`.mmdb`) that fills `context.geo`.',
  }),
};
