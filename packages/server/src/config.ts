/**
 * The one file that reads the environment. Every fault is reported, one line each naming the variable.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { isNetwork } from './snapshot/address-matcher.ts';

export type Role = 'admin' | 'ingest' | 'process' | 'deliver';
export const ROLES: readonly Role[] = ['admin', 'ingest', 'process', 'deliver'];

export interface Settings {
  port: number;
  host: string;
  ingestPort: number | undefined;
  dataDir: string;
  databaseUrl: string | undefined;
  natsUrl: string | undefined;
  natsReplicas: number;
  roles: ReadonlySet<Role>;
  ownerEmail: string;
  ownerPassword: string | undefined;
  secretKey: string | undefined;
  mode: 'development' | 'production';
  accessTokenTtlMs: number;
  refreshTokenTtlMs: number;
  challengeTokenTtlMs: number;
  adminRateLimit: number;
  loginRateLimit: number;
  configReloadMs: number;
  maxBodyBytes: number;
  ingestUrl: string | undefined;
  baseUrl: string | undefined;
  dedupWindowMs: number;
  eventRetentionMs: number;
  deadLetterRetentionMs: number;
  retryBaseMs: number;
  allowPrivateDestinations: boolean;
  /** A number of proxies, or the networks whose X-Forwarded-For is believed. */
  trustProxy: number | string[] | undefined;
  geoipDb: string | undefined;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

export type SettingsResult = { ok: true; settings: Settings } | { ok: false; faults: string[] };

export function readSettings(env: Record<string, string | undefined>): SettingsResult {
  const faults: string[] = [];
  const value = (name: string) => (env[name] === undefined || env[name].trim() === '' ? undefined : env[name].trim());
  function read<T>(name: string, fallback: T, parse: (text: string) => T | undefined, expected: string): T {
    const text = value(name);
    if (text === undefined) return fallback;
    const parsed = parse(text);
    if (parsed === undefined) {
      faults.push(`${name}: expected ${expected}, got ${JSON.stringify(SECRETS.has(name) ? '…' : text)}`);
      return fallback;
    }
    return parsed;
  }
  const port = (text: string) => between(text, 0, 65_535);
  const positive = (text: string) => between(text, 1, Number.MAX_SAFE_INTEGER);
  const mode = read('MODE', 'development', oneOf(['development', 'production'] as const), 'development or production');
  const databaseUrl = read<string | undefined>(
    'DATABASE_URL',
    undefined,
    url(['postgres:', 'postgresql:']),
    'postgres://user:password@host/database',
  );
  const natsUrl = read<string | undefined>('NATS_URL', undefined, natsServers, 'nats://host:port');
  const settings: Settings = {
    port: read('PORT', 8080, port, 'a port from 0 to 65535'),
    host: value('HOST') ?? '0.0.0.0',
    ingestPort: read<number | undefined>('INGEST_PORT', undefined, port, 'a port from 0 to 65535'),
    dataDir: value('DATA_DIR') ?? './data',
    databaseUrl,
    natsUrl,
    natsReplicas: read('NATS_REPLICAS', 1, (text) => between(text, 1, 5), 'a number of replicas from 1 to 5'),
    roles: read<ReadonlySet<Role>>('ROLES', new Set(ROLES), rolesOf, `a comma-separated list of ${ROLES.join(', ')}`),
    ownerEmail: read(
      'OWNER_EMAIL',
      'owner@localhost',
      (text) => (/^[^\s@]+@[^\s@]+$/.test(text) ? text.toLowerCase() : undefined),
      'an e-mail address',
    ),
    ownerPassword: read<string | undefined>(
      'OWNER_PASSWORD',
      undefined,
      (text) => (text.length >= 12 ? text : undefined),
      'at least 12 characters',
    ),
    secretKey: read<string | undefined>(
      'SECRET_KEY',
      undefined,
      (text) => (text.length >= 16 ? text : undefined),
      'at least 16 characters',
    ),
    mode,
    accessTokenTtlMs: read('ACCESS_TOKEN_TTL', 15 * 60_000, duration('s'), DURATION),
    refreshTokenTtlMs: read('REFRESH_TOKEN_TTL', 7 * 86_400_000, duration('s'), DURATION),
    challengeTokenTtlMs: read('CHALLENGE_TOKEN_TTL', 5 * 60_000, duration('s'), DURATION),
    adminRateLimit: read('ADMIN_RATE_LIMIT', 100, positive, 'a whole number of requests a minute, 1 or more'),
    loginRateLimit: read('LOGIN_RATE_LIMIT', 10, positive, 'a whole number of attempts a minute, 1 or more'),
    configReloadMs: read('CONFIG_RELOAD_INTERVAL', 5_000, duration('s'), DURATION),
    maxBodyBytes: read(
      'MAX_BODY_BYTES',
      1_048_576,
      (text) => between(text, 1_024, 104_857_600),
      'a number of bytes from 1024 to 104857600',
    ),
    ingestUrl: read<string | undefined>('INGEST_URL', undefined, publicUrl, 'an http or https address'),
    baseUrl: read<string | undefined>('BASE_URL', undefined, publicUrl, 'an http or https address'),
    dedupWindowMs: read('DEDUP_WINDOW', natsUrl === undefined ? 86_400_000 : 600_000, duration('s'), DURATION),
    eventRetentionMs: read('EVENT_RETENTION', 7 * 86_400_000, duration('s'), DURATION),
    deadLetterRetentionMs: read('DEAD_LETTER_RETENTION', 7 * 86_400_000, duration('s'), DURATION),
    retryBaseMs: read('RETRY_BASE', 1_000, duration('s'), DURATION),
    allowPrivateDestinations: read('ALLOW_PRIVATE_DESTINATIONS', mode === 'development', bool, 'true or false'),
    trustProxy: read<number | string[] | undefined>(
      'TRUST_PROXY',
      undefined,
      proxies,
      'a number of proxies, or a comma-separated list of addresses and networks',
    ),
    geoipDb: read<string | undefined>('GEOIP_DB', undefined, readableFile, 'an .mmdb file that can be read'),
    logLevel: read(
      'LOG_LEVEL',
      'info',
      oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const),
      'trace, debug, info, warn, error, fatal or silent',
    ),
  };
  if (databaseUrl !== undefined && settings.secretKey === undefined && value('SECRET_KEY') === undefined)
    faults.push('SECRET_KEY: required when DATABASE_URL is set, so that every process shares one key');
  if (settings.ingestPort !== undefined && settings.ingestPort === settings.port && settings.port !== 0)
    faults.push('INGEST_PORT: expected another port than PORT: leave it unset where one listener is to do');
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings };
}

const SECRETS = new Set(['OWNER_PASSWORD', 'SECRET_KEY', 'DATABASE_URL', 'NATS_URL']);
const DURATION = 'a duration such as 500ms, 30s, 15m, 24h, 7d, or plain seconds';
const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(plain: string) {
  return (text: string): number | undefined => {
    const match = /^(\d{1,12}(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
    if (!match) return undefined;
    const ms = Math.round(Number(match[1]) * UNITS[match[2] ?? plain]!);
    return ms > 0 ? ms : undefined;
  };
}
function between(text: string, least: number, most: number): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= least && number <= most ? number : undefined;
}
function oneOf<T extends string>(choices: readonly T[]) {
  return (text: string): T | undefined => choices.find((choice) => choice === text);
}
function bool(text: string): boolean | undefined {
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
}
function url(protocols: string[]) {
  return (text: string): string | undefined => (URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined);
}
function natsServers(text: string): string | undefined {
  return text.split(',').every((part) => url(['nats:', 'tls:'])(part.trim()) !== undefined) ? text : undefined;
}
function publicUrl(text: string): string | undefined {
  return url(['http:', 'https:'])(text)?.replace(/\/+$/, '');
}
function rolesOf(text: string): ReadonlySet<Role> | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 && names.every((name) => (ROLES as readonly string[]).includes(name)) ? new Set(names as Role[]) : undefined;
}
function proxies(text: string): number | string[] | undefined {
  const count = between(text, 0, 32);
  if (count !== undefined) return count;
  const parts = text.split(',').map((part) => part.trim());
  return parts.every(isNetwork) ? parts : undefined;
}
function readableFile(text: string): string | undefined {
  try {
    accessSync(text, constants.R_OK);
    return statSync(text).isFile() ? text : undefined;
  } catch {
    return undefined;
  }
}
