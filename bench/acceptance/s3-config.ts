export type FileFormat = 'ndjson' | 'parquet';
/** The default of the vendor. */
export const PER_FILE = 5_000;

export function s3Config(endpoint: string, format: FileFormat) {
  return {
    access_key_id: 'AKIABENCH',
    secret_access_key: 'secret',
    region: 'eu-central-1',
    bucket: 'bench-events',
    endpoint,
    format,
    compression: format === 'ndjson' ? 'gzip' : 'snappy',
    prefix: 'bench/',
    path: '{date}/',
    batch_interval_ms: 2_000,
    rate_limit_rps: 10_000,
  };
}
