import { describe, expect, expectTypeOf, test } from 'vitest';
import { SETTING_GROUPS } from './config/table.ts';
import { readSettings, type Settings } from './config.ts';

const POSTGRES = { DATABASE_URL: 'postgres://u@h/d', SECRET_KEY: 'x'.repeat(32) };

function settings(env: Record<string, string>): Settings {
  const result = readSettings(env);
  if (!result.ok) throw new Error(result.faults.join('\n'));
  return result.settings;
}

describe('settings', () => {
  test('types follow from the table: what has no default may be undefined', () => {
    expectTypeOf<Settings['port']>().toEqualTypeOf<number>();
    expectTypeOf<Settings['natsUrl']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Settings['mode']>().toEqualTypeOf<'development' | 'production'>();
    expectTypeOf<Settings['trustProxy']>().toEqualTypeOf<number | string[] | undefined>();
  });

  test('every setting is read and has its place in the reference', () => {
    const documented = Object.values(SETTING_GROUPS).flatMap((group) => Object.keys(group));
    expect(documented.toSorted()).toEqual(Object.keys(settings({})).toSorted());
  });

  test('an empty environment gives the documented defaults', () => {
    expect(settings({})).toMatchObject({
      port: 8080,
      host: '0.0.0.0',
      dataDir: './data',
      mode: 'development',
      accessTokenTtlMs: 900_000,
      refreshTokenTtlMs: 604_800_000,
      challengeTokenTtlMs: 300_000,
      adminRateLimit: 100,
      loginRateLimit: 10,
      configReloadMs: 5_000,
      maxBodyBytes: 1_048_576,
      dedupWindowMs: 86_400_000,
      eventRetentionMs: 604_800_000,
      deadLetterRetentionMs: 604_800_000,
      retryBaseMs: 1_000,
      allowPrivateDestinations: true,
      logLevel: 'info',
      ownerEmail: 'owner@localhost',
    });
    expect([...settings({}).roles]).toEqual(['admin', 'ingest', 'process', 'deliver']);
  });

  test.each<[string, Record<string, string>, Partial<Settings>]>([
    ['an empty variable is an unset one', { PORT: '', MODE: '  ' }, { port: 8080, mode: 'development' }],
    ['plain seconds', { ACCESS_TOKEN_TTL: '900' }, { accessTokenTtlMs: 900_000 }],
    ['milliseconds', { RETRY_BASE: '10ms' }, { retryBaseMs: 10 }],
    ['the window is shorter on JetStream', { NATS_URL: 'nats://127.0.0.1:4222' }, { dedupWindowMs: 600_000 }],
    ['production refuses private destinations', { MODE: 'production' }, { allowPrivateDestinations: false }],
    ['unless told otherwise', { MODE: 'production', ALLOW_PRIVATE_DESTINATIONS: 'true' }, { allowPrivateDestinations: true }],
    ['proxies by number', { TRUST_PROXY: '2' }, { trustProxy: 2 }],
    ['proxies by network', { TRUST_PROXY: '10.0.0.0/8, ::1' }, { trustProxy: ['10.0.0.0/8', '::1'] }],
    ['addresses lose their trailing slash', { BASE_URL: 'https://events.example/' }, { baseUrl: 'https://events.example' }],
    ['all roles on PostgreSQL alone', POSTGRES, { natsUrl: undefined }],
    ['all roles on NATS alone', { NATS_URL: 'nats://h:4222' }, { databaseUrl: undefined }],
    ['some roles on PostgreSQL and NATS', { ...POSTGRES, NATS_URL: 'nats://h:4222', ROLES: 'deliver' }, { roles: new Set(['deliver']) }],
    ['some roles on the embedded stores', { ROLES: 'admin,ingest,process' }, { natsUrl: undefined }],
    ['PostgreSQL with its key', POSTGRES, { databaseUrl: 'postgres://u@h/d' }],
  ])('%s', (_name, env, expected) => {
    expect(settings(env)).toMatchObject(expected);
  });

  test('all faults are reported together, one line each, naming the variable and no secret', () => {
    const result = readSettings({
      PORT: 'eighty',
      MODE: 'prod',
      RETRY_BASE: '-1',
      ROLES: 'ingest,cook',
      DATABASE_URL: 'mysql://u:secret@h/d',
      OWNER_PASSWORD: 'short',
      TRUST_PROXY: 'everyone',
      GEOIP_DB: '/nowhere/geo.mmdb',
    });
    if (result.ok) throw new Error('must be refused');
    expect(result.faults.map((line) => line.split(':', 1)[0]).sort()).toEqual([
      'DATABASE_URL',
      'GEOIP_DB',
      'MODE',
      'OWNER_PASSWORD',
      'PORT',
      'RETRY_BASE',
      'ROLES',
      'TRUST_PROXY',
    ]);
    expect(result.faults.every((line) => !line.includes('\n'))).toBe(true);
    expect(result.faults.join()).not.toMatch(/secret|short/);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['a proxy that is no address', { TRUST_PROXY: '999.1.1.1' }, /^TRUST_PROXY: /],
    ['a network wider than addresses are', { TRUST_PROXY: '10.0.0.0/99' }, /^TRUST_PROXY: /],
    ['a folder for the geo database', { GEOIP_DB: import.meta.dirname }, /^GEOIP_DB: /],
    ['a retention longer than dates reach', { EVENT_RETENTION: '999999999d' }, /^EVENT_RETENTION: .*at most 36500d/],
    ['an interval longer than a timer can wait', { ALERT_INTERVAL: '30d' }, /^ALERT_INTERVAL: .*at most 24h/],
    ['a mail server without a host', { SMTP_URL: 'smtp://' }, /^SMTP_URL: /],
    ['an address to which no path can be appended', { BASE_URL: 'https://shop.example/?a=1' }, /^BASE_URL: .*without a query/],
    ['one port for two listeners', { PORT: '9000', INGEST_PORT: '9000' }, /^INGEST_PORT: /],
    ['the port of metrics for another listener', { PORT: '9000', METRICS_PORT: '9000' }, /^METRICS_PORT: /],
    ['the port of metrics for collection', { INGEST_PORT: '9001', METRICS_PORT: '9001' }, /^METRICS_PORT: /],
    ['some roles on PostgreSQL alone', { ...POSTGRES, ROLES: 'admin,ingest' }, /^NATS_URL: /],
    ['some roles on NATS alone', { NATS_URL: 'nats://h:4222', ROLES: 'process' }, /^DATABASE_URL: /],
    ['a sender without a mail server', { SMTP_FROM: 'alerts@shop.example' }, /^SMTP_FROM: .*without SMTP_URL/],
    ['a mail user without a password', { SMTP_URL: 'smtp://user@mail.example' }, /^SMTP_URL: .*smtp:\/\/user:password@/],
    ['a mail password without a user', { SMTP_URL: 'smtp://:secret@mail.example' }, /^SMTP_URL: /],
    ['an OIDC client without an issuer', { OIDC_CLIENT_ID: 'firsthand' }, /^OIDC_CLIENT_ID: .*without OIDC_ISSUER/],
    ['an OIDC secret without an issuer', { OIDC_CLIENT_SECRET: 'hidden' }, /^OIDC_CLIENT_SECRET: (?!.*hidden)/],
    ['an OIDC claim without an issuer', { OIDC_ROLE_CLAIM: 'groups' }, /^OIDC_ROLE_CLAIM: .*without OIDC_ISSUER/],
    [
      'a map of groups without their claim',
      { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'firsthand', OIDC_ROLE_MAP: 'staff=viewer' },
      /^OIDC_ROLE_MAP: .*without OIDC_ROLE_CLAIM/,
    ],
    ['credentials of NATS without its address', { NATS_CREDS: import.meta.filename }, /^NATS_CREDS: .*without NATS_URL/],
    ['an nkey without an address', { NATS_NKEY: import.meta.filename }, /^NATS_NKEY: .*without NATS_URL/],
    ['an authority without an address', { NATS_CA: import.meta.filename }, /^NATS_CA: .*without NATS_URL/],
    ['a token that two clients would encode in two ways', { METRICS_TOKEN: 'schlüssel-der-metriken' }, /^METRICS_TOKEN: (?!.*metriken)/],
    ['copies without the NATS that keeps them', { NATS_REPLICAS: '3' }, /^NATS_REPLICAS: .*without NATS_URL/],
    ['streams without NATS', { NATS_STREAMS: '6' }, /^NATS_STREAMS: .*without NATS_URL/],
    ['partitions without NATS', { PARTITIONS: '32' }, /^PARTITIONS: .*without NATS_URL/],
    ['NATS without a host', { NATS_URL: 'nats://a:4222,nats://' }, /^NATS_URL: expected nats:/],
    ['a name that no header can have', { OTEL_EXPORTER_OTLP_HEADERS: 'api%20key=hidden' }, /^OTEL_EXPORTER_OTLP_HEADERS: (?!.*hidden)/],
    ['a value that no header can have', { OTEL_EXPORTER_OTLP_HEADERS: 'key=hidden%0D%0A' }, /^OTEL_EXPORTER_OTLP_HEADERS: (?!.*hidden)/],
  ])('%s is refused by name', (_name, env, fault) => {
    expect(readSettings(env)).toMatchObject({ ok: false, faults: [expect.stringMatching(fault)] });
  });

  test('any free port for each listener is a port of its own', () => {
    expect(settings({ PORT: '0', INGEST_PORT: '0', METRICS_PORT: '0' })).toMatchObject({ port: 0, ingestPort: 0 });
  });

  test('PostgreSQL without SECRET_KEY is refused', () => {
    expect(readSettings({ DATABASE_URL: 'postgres://u@h/d' })).toMatchObject({
      ok: false,
      faults: [expect.stringMatching(/^SECRET_KEY: /)],
    });
  });
});
