/**
 * Every setting of the service, once: variable, default, meaning and parser. `config.ts` reads the environment through this table,
 * and `scripts/generate-settings-docs.ts` writes docs/reference/settings.md from it.
 */
import { MOST_PARTITIONS } from '../partition.ts';
import {
  anyText,
  atLeastLong,
  databaseUrl,
  duration,
  durationOrNone,
  emailAddress,
  flag,
  hostNames,
  keyValuePairs,
  natsServers,
  oneOf,
  type Parser,
  port,
  proxies,
  publicUrl,
  ratio,
  readableFile,
  roleMap,
  setOf,
  smtpUrl,
  wholeNumber,
} from './parsers.ts';

export type Role = 'admin' | 'ingest' | 'process' | 'deliver';
export const ROLES: readonly Role[] = ['admin', 'ingest', 'process', 'deliver'];

/** Headings of docs/reference/settings.md, in this order. */
export const SETTING_GROUPS = [
  'Listening',
  'Stores',
  'Roles and security',
  'Limits',
  'Retention and retries',
  'Delivery and data',
  'Alerts',
  'Logging',
  'OpenTelemetry',
] as const;

/** The text of another variable, or undefined when it is unset. */
type Lookup = (variable: string) => string | undefined;

/** Written as a user would write it, and read by the same parser. `from` is for a default that depends on another variable. */
type Default = string | { from: (value: Lookup) => string; shown: string };

export interface Setting<T> {
  variable: string;
  group: (typeof SETTING_GROUPS)[number];
  meaning: string;
  parser: Parser<NonNullable<T>>;
  default: Default | undefined;
  /** Shown instead of a default where the service chooses the value itself. */
  unset?: string;
  /** The value never appears in an error message. */
  secret?: true;
}

type Described<T> = Omit<Setting<T>, 'default'>;
const setting = <T>(described: Described<T> & { default: Default }): Setting<T> => described;
const optional = <T>(described: Described<T>): Setting<T | undefined> => ({ ...described, default: undefined });

export const SETTINGS = {
  port: setting({
    variable: 'PORT',
    group: 'Listening',
    default: '8080',
    parser: port,
    meaning: 'Listener for management API, collection endpoints and console. 0 picks a free port.',
  }),
  host: setting({ variable: 'HOST', group: 'Listening', default: '0.0.0.0', parser: anyText, meaning: 'Address to listen on.' }),
  ingestPort: optional({
    variable: 'INGEST_PORT',
    group: 'Listening',
    unset: 'same as `PORT`',
    parser: port,
    meaning: 'Separate listener for the collection endpoints.',
  }),
  baseUrl: optional({
    variable: 'BASE_URL',
    group: 'Listening',
    unset: 'from the request',
    parser: publicUrl,
    meaning: 'Public address of the management API and the console.',
  }),
  ingestUrl: optional({
    variable: 'INGEST_URL',
    group: 'Listening',
    unset: 'from the request',
    parser: publicUrl,
    meaning: 'Public address of the collection endpoints: used in snippets, webhook URLs and signatures.',
  }),
  allowedHosts: optional({
    variable: 'ALLOWED_HOSTS',
    group: 'Listening',
    unset: 'loopback only',
    parser: hostNames,
    meaning:
      'Host names, separated by commas, that links may be built from in production when `BASE_URL` or `INGEST_URL` is not set. Requests for a snippet or a webhook URL under another host get 409.',
  }),
  metricsPort: optional({
    variable: 'METRICS_PORT',
    group: 'Listening',
    unset: 'same as `PORT`',
    parser: port,
    meaning: 'Separate listener for `/metrics`, `/healthz` and `/readyz`. `/metrics` is then served there only.',
  }),
  metricsToken: optional({
    variable: 'METRICS_TOKEN',
    group: 'Listening',
    unset: 'no token needed',
    parser: atLeastLong(16),
    secret: true,
    meaning: 'Token that `/metrics` asks for on the main listener, as `Authorization: Bearer`.',
  }),
  threads: setting({
    variable: 'THREADS',
    group: 'Roles and security',
    default: 'auto',
    parser: oneOf('auto', '1', '2'),
    meaning:
      'Threads of the roles on the embedded stores. With `2`, processing and delivery have a thread of their own, and requests do not wait for them; it takes about 80 MB more memory. `auto` is 2 on a machine with at least four processors. Other settings of the stores have one thread for each process.',
  }),
  drainDelayMs: setting({
    variable: 'DRAIN_DELAY',
    group: 'Listening',
    default: { from: (value) => (value('MODE') === 'production' ? '5s' : '0s'), shown: '`0s`; `5s` in production' },
    parser: durationOrNone,
    meaning:
      'How long the process still accepts connections after a stop signal, while `/readyz` answers `draining`. Load balancers move traffic to other processes in this time. At most 60s.',
  }),
  trustProxy: optional({
    variable: 'TRUST_PROXY',
    group: 'Listening',
    unset: 'no proxy',
    parser: proxies,
    meaning: 'Number of proxies in front of the service, or their networks, whose `X-Forwarded-For` is trusted.',
  }),

  dataDir: setting({
    variable: 'DATA_DIR',
    group: 'Stores',
    default: './data',
    parser: anyText,
    meaning:
      'Folder of the embedded stores. One process per folder; a second one refuses to start. With PostgreSQL and NATS it holds only the configuration that ingest starts from while PostgreSQL is unavailable, and processes may share it.',
  }),
  databaseUrl: optional({
    variable: 'DATABASE_URL',
    group: 'Stores',
    unset: 'SQLite under `DATA_DIR`',
    parser: databaseUrl,
    secret: true,
    meaning: 'PostgreSQL for configuration, traces and counters: `postgres://…`.',
  }),
  natsUrl: optional({
    variable: 'NATS_URL',
    group: 'Stores',
    unset: 'LMDB under `DATA_DIR`',
    parser: natsServers,
    secret: true,
    meaning: 'NATS JetStream for the event log, visitors and leases: `nats://…`, several separated by commas.',
  }),
  natsCredentials: optional({
    variable: 'NATS_CREDS',
    group: 'Stores',
    unset: 'user, password or token of `NATS_URL`',
    parser: readableFile('a credentials file'),
    meaning: 'Credentials file of a NATS account (`.creds`). Read again at every reconnect.',
  }),
  natsNkey: optional({
    variable: 'NATS_NKEY',
    group: 'Stores',
    unset: 'no nkey',
    parser: readableFile('a file with an nkey seed'),
    meaning: 'File with the seed of an nkey, instead of `NATS_CREDS`.',
  }),
  natsCa: optional({
    variable: 'NATS_CA',
    group: 'Stores',
    unset: 'the authorities of the system',
    parser: readableFile('a PEM file'),
    meaning: 'Certificate authority of the NATS servers. With it, or with `tls://` in `NATS_URL`, connections are encrypted.',
  }),
  natsCert: optional({
    variable: 'NATS_CERT',
    group: 'Stores',
    unset: 'no client certificate',
    parser: readableFile('a PEM file'),
    meaning: 'Client certificate for the NATS servers; needs `NATS_KEY`.',
  }),
  natsKey: optional({
    variable: 'NATS_KEY',
    group: 'Stores',
    unset: 'no client certificate',
    parser: readableFile('a PEM file'),
    meaning: 'Private key of `NATS_CERT`.',
  }),
  natsReplicas: setting({
    variable: 'NATS_REPLICAS',
    group: 'Stores',
    default: '1',
    parser: wholeNumber(1, 5, 'a number of replicas from 1 to 5'),
    meaning: 'Copies of each record that JetStream keeps. Use 3 in production.',
  }),
  natsStreams: setting({
    variable: 'NATS_STREAMS',
    group: 'Stores',
    default: '3',
    parser: wholeNumber(1, 64, 'a number of streams from 1 to 64'),
    meaning: 'Streams per busy topic family; each has its own leader among the NATS servers. Fixed when the installation is created.',
  }),
  partitions: optional({
    variable: 'PARTITIONS',
    group: 'Stores',
    unset: 'the number in use; 16 for a new installation',
    parser: wholeNumber(1, MOST_PARTITIONS, `a number of partitions from 1 to ${MOST_PARTITIONS}`),
    meaning:
      'Ingest partitions on NATS: the most processes that can process events at the same time. Can be raised to a multiple while events flow, never lowered.',
  }),

  roles: setting<ReadonlySet<Role>>({
    variable: 'ROLES',
    group: 'Roles and security',
    default: ROLES.join(','),
    parser: setOf(ROLES),
    meaning: 'Roles that this process runs.',
  }),
  mode: setting({
    variable: 'MODE',
    group: 'Roles and security',
    default: 'development',
    parser: oneOf('development', 'production'),
    meaning: '`production` refuses plain HTTP and private destinations, and localhost origins.',
  }),
  secretKey: optional({
    variable: 'SECRET_KEY',
    group: 'Roles and security',
    unset: 'generated into `DATA_DIR`',
    parser: atLeastLong(16),
    secret: true,
    meaning: 'Master key: signs tokens and wraps the keys of stored secrets. Required with `DATABASE_URL`.',
  }),
  ownerEmail: setting({
    variable: 'OWNER_EMAIL',
    group: 'Roles and security',
    default: 'owner@localhost',
    parser: emailAddress,
    meaning: 'E-mail address of the first owner, created at the first start.',
  }),
  ownerPassword: optional({
    variable: 'OWNER_PASSWORD',
    group: 'Roles and security',
    unset: 'generated and printed once',
    parser: atLeastLong(12),
    secret: true,
    meaning: 'Password of the first owner.',
  }),
  localLogin: setting({
    variable: 'LOCAL_LOGIN',
    group: 'Roles and security',
    default: 'true',
    parser: flag,
    meaning:
      'Whether users may sign in with a password. With `false` only OIDC works, and for an hour a user whose password was reset with `firsthand user reset-password`.',
  }),
  oidcIssuer: optional({
    variable: 'OIDC_ISSUER',
    group: 'Roles and security',
    unset: 'no OIDC',
    parser: publicUrl,
    meaning: 'OpenID Connect issuer to sign in with. The redirect address to register there is `{BASE_URL}/v1/admin/auth/oidc/callback`.',
  }),
  oidcClientId: optional({
    variable: 'OIDC_CLIENT_ID',
    group: 'Roles and security',
    parser: anyText,
    meaning: 'Client id at the issuer. Required with `OIDC_ISSUER`.',
  }),
  oidcClientSecret: optional({
    variable: 'OIDC_CLIENT_SECRET',
    group: 'Roles and security',
    unset: 'public client',
    parser: anyText,
    secret: true,
    meaning: 'Client secret at the issuer.',
  }),
  oidcRoleClaim: optional({
    variable: 'OIDC_ROLE_CLAIM',
    group: 'Roles and security',
    unset: 'new users are viewers',
    parser: anyText,
    meaning: 'Claim of the ID token that decides the role at every sign-in, such as `groups` or `realm_access.roles`.',
  }),
  oidcRoleMap: optional({
    variable: 'OIDC_ROLE_MAP',
    group: 'Roles and security',
    unset: 'the claim holds role names',
    parser: roleMap,
    meaning: 'Groups and their roles: `firsthand-admins=admin,staff=viewer`. The highest role wins; a user without one cannot sign in.',
  }),
  accessTokenTtlMs: setting({
    variable: 'ACCESS_TOKEN_TTL',
    group: 'Roles and security',
    default: '15m',
    parser: duration,
    meaning: 'Lifetime of an access token.',
  }),
  refreshTokenTtlMs: setting({
    variable: 'REFRESH_TOKEN_TTL',
    group: 'Roles and security',
    default: '7d',
    parser: duration,
    meaning: 'Lifetime of a refresh token.',
  }),
  challengeTokenTtlMs: setting({
    variable: 'CHALLENGE_TOKEN_TTL',
    group: 'Roles and security',
    default: '5m',
    parser: duration,
    meaning: 'Lifetime of a challenge token.',
  }),

  adminRateLimit: setting({
    variable: 'ADMIN_RATE_LIMIT',
    group: 'Limits',
    default: '100',
    parser: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of requests a minute, 1 or more'),
    meaning: 'Management API requests per minute and user or API token, over all processes.',
  }),
  loginRateLimit: setting({
    variable: 'LOGIN_RATE_LIMIT',
    group: 'Limits',
    default: '10',
    parser: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of attempts a minute, 1 or more'),
    meaning:
      'Sign-in attempts per minute and e-mail address. Accounts that have not signed in from a network before share ten times as many per client address and thirty times as many per network (/24, /64). Behind a proxy set `TRUST_PROXY`, or all clients share one address.',
  }),
  maxBodyBytes: setting({
    variable: 'MAX_BODY_BYTES',
    group: 'Limits',
    default: '1048576',
    parser: wholeNumber(1_024, 104_857_600, 'a number of bytes from 1024 to 104857600'),
    meaning: 'Largest collection payload, unpacked. `/v1/batch` accepts five times that.',
  }),

  dedupWindowMs: setting({
    variable: 'DEDUP_WINDOW',
    group: 'Retention and retries',
    default: { from: (value) => (value('NATS_URL') === undefined ? '24h' : '10m'), shown: '`24h`; `10m` on JetStream' },
    parser: duration,
    meaning: 'How long a `messageId` is remembered for deduplication.',
  }),
  eventRetentionMs: setting({
    variable: 'EVENT_RETENTION',
    group: 'Retention and retries',
    default: '7d',
    parser: duration,
    meaning: 'How long processed events are kept for replay and traces.',
  }),
  deadLetterRetentionMs: setting({
    variable: 'DEAD_LETTER_RETENTION',
    group: 'Retention and retries',
    default: '7d',
    parser: duration,
    meaning: 'How long dead letters are kept.',
  }),
  retryBaseMs: setting({
    variable: 'RETRY_BASE',
    group: 'Retention and retries',
    default: '1s',
    parser: duration,
    meaning: 'Unit of the retry schedule 1, 4, 16, 64, 256.',
  }),

  allowPrivateDestinations: setting({
    variable: 'ALLOW_PRIVATE_DESTINATIONS',
    group: 'Delivery and data',
    default: { from: (value) => (value('MODE') === 'production' ? 'false' : 'true'), shown: '`true`; `false` in production' },
    parser: flag,
    meaning: 'Whether deliveries may reach loopback and private addresses.',
  }),
  configReloadMs: setting({
    variable: 'CONFIG_RELOAD_INTERVAL',
    group: 'Delivery and data',
    default: '5s',
    parser: duration,
    meaning:
      'How soon other processes apply a configuration change where PostgreSQL does not announce it. Disabling, deleting and rotating apply within 1 s.',
  }),
  traceSample: setting({
    variable: 'TRACE_SAMPLE',
    group: 'Delivery and data',
    default: '1',
    parser: ratio,
    meaning:
      'Share of event traces that are kept above `TRACE_SAMPLE_ABOVE`, from 0 to 1. Statistics count every event. Drops, failed attempts and dead letters are always traced. Below 1, erasing a person does not find the log records of events without a trace: they stay for `EVENT_RETENTION`, or `retention_days` of their pipeline where that is longer.',
  }),
  traceSampleAbove: setting({
    variable: 'TRACE_SAMPLE_ABOVE',
    group: 'Delivery and data',
    default: '1000',
    parser: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of events a second, 0 or more'),
    meaning: 'Events a second in one process with the process role up to which every event is traced.',
  }),
  geoipDb: optional({
    variable: 'GEOIP_DB',
    group: 'Delivery and data',
    unset: 'no geolocation',
    parser: readableFile('an .mmdb file'),
    meaning: 'MaxMind database (`.mmdb`) that fills `context.geo`.',
  }),

  smtpUrl: optional({
    variable: 'SMTP_URL',
    group: 'Alerts',
    unset: 'no e-mail',
    parser: smtpUrl,
    secret: true,
    meaning: 'Mail server for alerts by e-mail: `smtp://user:password@host:587`, or `smtps://` for TLS from the start.',
  }),
  smtpFrom: setting({
    variable: 'SMTP_FROM',
    group: 'Alerts',
    default: 'firsthand@localhost',
    parser: emailAddress,
    meaning: 'Sender of alerts by e-mail.',
  }),
  alertIntervalMs: setting({
    variable: 'ALERT_INTERVAL',
    group: 'Alerts',
    default: '15s',
    parser: duration,
    meaning: 'How often alerts are evaluated.',
  }),

  logLevel: setting({
    variable: 'LOG_LEVEL',
    group: 'Logging',
    default: 'info',
    parser: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    meaning: 'Lowest level that is logged.',
  }),

  otelEndpoint: optional({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    group: 'OpenTelemetry',
    unset: 'nothing is exported',
    parser: publicUrl,
    meaning:
      'Address of an OpenTelemetry collector, such as `http://collector:4318`. Metrics and event traces are sent there as OTLP over HTTP (JSON).',
  }),
  otelHeaders: optional({
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    group: 'OpenTelemetry',
    unset: 'none',
    parser: keyValuePairs,
    secret: true,
    meaning: 'Headers for the collector, as `name=value,name=value`.',
  }),
  otelServiceName: setting({
    variable: 'OTEL_SERVICE_NAME',
    group: 'OpenTelemetry',
    default: 'firsthand',
    parser: anyText,
    meaning: 'Name under which the collector sees this service.',
  }),
  otelResourceAttributes: optional({
    variable: 'OTEL_RESOURCE_ATTRIBUTES',
    group: 'OpenTelemetry',
    unset: 'none',
    parser: keyValuePairs,
    meaning: 'Further attributes of every span and metric, such as `deployment.environment.name=production`.',
  }),
  otelMetricIntervalMs: setting({
    variable: 'OTEL_METRIC_EXPORT_INTERVAL',
    group: 'OpenTelemetry',
    default: '60000',
    parser: wholeNumber(1_000, 3_600_000, 'milliseconds from 1000 to 3600000'),
    meaning: 'Milliseconds between two exports of the metrics.',
  }),
  otelTraceRatio: setting({
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    group: 'OpenTelemetry',
    default: '1',
    parser: ratio,
    meaning: 'Share of events that are traced, from 0 to 1. An event is traced with all its deliveries or not at all.',
  }),
};
