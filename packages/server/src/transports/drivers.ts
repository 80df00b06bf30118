import type { TransportKind } from '@firsthand/core/vendor/transport.ts';
import type { OpenTransport } from './port.ts';

/** Loaded when the first integration needs one, so that a driver nobody uses costs nothing. */
export const DRIVERS: Record<TransportKind, () => Promise<OpenTransport>> = {
  postgresql: async () => (await import('./postgresql.ts')).openPostgresql,
  kafka: async () => (await import('./kafka.ts')).openKafka,
  rabbitmq: async () => (await import('./rabbitmq.ts')).openRabbitmq,
  mqtt: async () => (await import('./mqtt.ts')).openMqtt,
  nats: async () => (await import('./nats.ts')).openNats,
  redis: async () => (await import('./redis.ts')).openRedis,
  s3: async () => (await import('./files/s3.ts')).openS3,
  gcs: async () => (await import('./files/gcs.ts')).openGcs,
  azure_blob: async () => (await import('./files/azure-blob.ts')).openAzureBlob,
  sftp: async () => (await import('./files/sftp.ts')).openSftp,
  redshift: async () => (await import('./redshift.ts')).openRedshift,
  mysql: async () => (await import('./mysql.ts')).openMysql,
  clickhouse: async () => (await import('./clickhouse.ts')).openClickhouse,
  bigquery: async () => (await import('./bigquery.ts')).openBigquery,
  snowflake: async () => (await import('./snowflake.ts')).openSnowflake,
  databricks: async () => (await import('./databricks.ts')).openDatabricks,
};
