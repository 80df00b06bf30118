import type { TransportKind } from '@firsthand/core/vendor/transport.ts';
import { importInSteps } from '../runtime/import-in-steps.ts';
import { loadKafkaClient } from './kafka-client.ts';
import type { OpenTransport } from './port.ts';

/**
 * Loaded when the first integration needs one, so that a driver nobody uses costs nothing. Clients whose import takes more than 20 ms
 * are loaded in steps, because events arrive meanwhile.
 */
export const DRIVERS: Record<TransportKind, () => Promise<OpenTransport>> = {
  postgresql: async () => {
    await importInSteps(import.meta.resolve('pg'));
    return (await import('./postgresql.ts')).openPostgresql;
  },
  kafka: async () => {
    await loadKafkaClient();
    return (await import('./kafka.ts')).openKafka;
  },
  rabbitmq: async () => (await import('./rabbitmq.ts')).openRabbitmq,
  mqtt: async () => {
    await importInSteps(import.meta.resolve('mqtt'));
    return (await import('./mqtt.ts')).openMqtt;
  },
  nats: async () => {
    await importInSteps(import.meta.resolve('@nats-io/jetstream'));
    await importInSteps(import.meta.resolve('@nats-io/transport-node'));
    return (await import('./nats.ts')).openNats;
  },
  redis: async () => {
    await importInSteps(import.meta.resolve('@redis/client'));
    return (await import('./redis.ts')).openRedis;
  },
  s3: async () => (await import('./files/s3.ts')).openS3,
  gcs: async () => (await import('./files/gcs.ts')).openGcs,
  azure_blob: async () => (await import('./files/azure-blob.ts')).openAzureBlob,
  sftp: async () => {
    await importInSteps(import.meta.resolve('ssh2'));
    return (await import('./files/sftp.ts')).openSftp;
  },
  redshift: async () => (await import('./redshift.ts')).openRedshift,
  mysql: async () => {
    await importInSteps(import.meta.resolve('mysql2/promise'));
    return (await import('./mysql.ts')).openMysql;
  },
  clickhouse: async () => (await import('./clickhouse.ts')).openClickhouse,
  bigquery: async () => (await import('./bigquery.ts')).openBigquery,
  snowflake: async () => (await import('./snowflake.ts')).openSnowflake,
  databricks: async () => (await import('./databricks.ts')).openDatabricks,
};
