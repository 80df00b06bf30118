import { MOST_PARTITIONS } from '../../partition.ts';
import { anyText, databaseUrl, natsServers, readableFile, wholeNumber } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export const STORES = {
  dataDir: setting({
    variable: 'DATA_DIR',
    default: './data',
    parser: anyText,
    meaning:
      'Folder of the embedded stores. One process per folder; a second one refuses to start. With PostgreSQL and NATS it holds only the configuration that ingest starts from while PostgreSQL is unavailable, and processes may share it.',
  }),
  databaseUrl: optional({
    variable: 'DATABASE_URL',
    unset: 'SQLite under `DATA_DIR`',
    parser: databaseUrl,
    secret: true,
    meaning: 'PostgreSQL for configuration, traces and counters: `postgres://…`.',
  }),
  natsUrl: optional({
    variable: 'NATS_URL',
    unset: 'LMDB under `DATA_DIR`',
    parser: natsServers,
    secret: true,
    meaning: 'NATS JetStream for the event log, visitors and leases: `nats://…`, several separated by commas.',
  }),
  natsCredentials: optional({
    variable: 'NATS_CREDS',
    unset: 'user, password or token of `NATS_URL`',
    parser: readableFile('a credentials file'),
    meaning: 'Credentials file of a NATS account (`.creds`). Read again at every reconnect.',
  }),
  natsNkey: optional({
    variable: 'NATS_NKEY',
    unset: 'no nkey',
    parser: readableFile('a file with an nkey seed'),
    meaning: 'File with the seed of an nkey, instead of `NATS_CREDS`.',
  }),
  natsCa: optional({
    variable: 'NATS_CA',
    unset: 'the authorities of the system',
    parser: readableFile('a PEM file'),
    meaning: 'Certificate authority of the NATS servers. With it, or with `tls://` in `NATS_URL`, connections are encrypted.',
  }),
  natsCert: optional({
    variable: 'NATS_CERT',
    unset: 'no client certificate',
    parser: readableFile('a PEM file'),
    meaning: 'Client certificate for the NATS servers; needs `NATS_KEY`.',
  }),
  natsKey: optional({
    variable: 'NATS_KEY',
    unset: 'no client certificate',
    parser: readableFile('a PEM file'),
    meaning: 'Private key of `NATS_CERT`.',
  }),
  natsReplicas: setting({
    variable: 'NATS_REPLICAS',
    default: '1',
    parser: wholeNumber(1, 5, 'a number of replicas from 1 to 5'),
    meaning: 'Copies of each record that JetStream keeps. Use 3 in production.',
  }),
  natsStreams: setting({
    variable: 'NATS_STREAMS',
    default: '3',
    parser: wholeNumber(1, 64, 'a number of streams from 1 to 64'),
    meaning: 'Streams per busy topic family; each has its own leader among the NATS servers. Fixed when the installation is created.',
  }),
  partitions: optional({
    variable: 'PARTITIONS',
    unset: 'the number in use; 16 for a new installation',
    parser: wholeNumber(1, MOST_PARTITIONS, `a number of partitions from 1 to ${MOST_PARTITIONS}`),
    meaning:
      'Ingest partitions on NATS: the most processes that can process events at the same time. Can be raised to a multiple while events flow, never lowered.',
  }),
};
