/** What all file targets have in common: format, compression, folders and the size of a file. */
import type { ConfigField } from '@firsthand/core/vendor/definition.ts';
import type { TransportDefinition } from '@firsthand/core/vendor/transport.ts';
import { flag, optionalText, select } from './fields.ts';

const limit = (key: string, label: string, help_text: string, max: number, value: number, min = 1): ConfigField => ({
  key,
  label,
  type: 'number',
  required: false,
  placeholder: String(value),
  help_text,
  integer: true,
  min,
  max,
  default: value,
});

export const FILE_FIELDS: ConfigField[] = [
  select(
    'format',
    'Format',
    ['ndjson', 'csv', 'parquet'],
    'ndjson: one JSON object per line. CSV and Parquet: one column per field of the event.',
  ),
  select(
    'compression',
    'Compression',
    ['none', 'gzip', 'zstd', 'snappy'],
    'gzip and zstd add .gz and .zst to the name. In Parquet the pages are compressed; snappy exists only there and is gzip elsewhere.',
  ),
  flag('flatten', 'A column per property', 'CSV and Parquet: properties_total instead of the JSON column properties.'),
  optionalText('prefix', 'Prefix', 'firsthand/', 'Stands before the folder in every name.', {
    default: 'firsthand/',
    pattern: "^(?!/)[\\w!\\-.*'()/=]{0,500}$",
    pattern_hint: 'letters, digits and safe punctuation, without a leading slash',
  }),
  optionalText(
    'path',
    'Folder',
    '{year}/{month}/{day}/{hour}/',
    'By the time of the event in UTC: {year}, {month}, {day}, {hour}, {date}; also {event}, {type}, {pipeline}. Each folder has its own files.',
    {
      default: '{year}/{month}/{day}/{hour}/',
      pattern: "^[\\w!\\-.*'()/={}]{0,500}$",
      pattern_hint: 'letters, digits, safe punctuation and {parts}',
    },
  ),
  limit('batch_size', 'Events per file', 'A file is written when it holds so many events.', 10_000, 5_000),
  limit('max_file_mb', 'Megabytes per file', 'Or when its events take so many megabytes as JSON, before compression.', 16, 16),
  limit('batch_interval_ms', 'Interval (ms)', 'Or when so much time has passed since its first event.', 900_000, 60_000),
  flag(
    'manifest',
    'Manifest',
    'Writes _manifest-<hash>.json beside each file, with its address, size and rows, as COPY of Redshift reads it.',
  ),
];

/** The part of `connection` that every file driver reads. */
export const FILE_CONNECTION = {
  format: '{{parameters.format}}',
  compression: '{{parameters.compression}}',
  flatten: '{{parameters.flatten}}',
  manifest: '{{parameters.manifest}}',
};

export const FILE_TRANSPORT: Pick<TransportDefinition, 'target' | 'batch' | 'sealed' | 'files'> = {
  target: '{{parameters.prefix}}{{parameters.path}}',
  batch: { max_items: 10_000, max_bytes: 16_000_000, interval_ms: 60_000 },
  sealed: true,
  files: true,
};

export const FILE_NOTES = [
  'A file is complete or absent, and its name is the SHA-256 of its rows: an event is in exactly one file, also after a crash.',
  'CSV and Parquet have one column per field of the event; context, properties and traits hold JSON unless each property has its own column.',
  'Wrong credentials and a missing bucket are retried, so that correcting them loses nothing; after the last retry the events are dead letters.',
];

export const FILE_VARIANT = {
  key: 'default',
  name: 'Default',
  description: 'Every event as it is, in compressed lines of JSON, a folder per hour.',
  default_config: { version: 2, format: 'ndjson', compression: 'gzip', defaults: { action: 'pass_through' } },
};
