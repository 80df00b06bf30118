/** The one place that reads the environment. Every fault is reported, one line each naming the variable. */
import { ROLES } from './config/groups/roles-and-security.ts';
import type { Setting } from './config/setting.ts';
import { SETTINGS } from './config/table.ts';

export type { Role } from './config/groups/roles-and-security.ts';

export type Settings = { [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key] extends Setting<infer T> ? T : never };
export type SettingsResult = { ok: true; settings: Settings } | { ok: false; faults: string[] };

/** Settings that do nothing without another one: that one was forgotten or mistyped. */
const NEEDED: readonly [needed: string, by: readonly string[]][] = [
  ['SMTP_URL', ['SMTP_FROM']],
  ['OIDC_ISSUER', ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLE_CLAIM']],
  ['OIDC_ROLE_CLAIM', ['OIDC_ROLE_MAP']],
  ['NATS_URL', ['NATS_CREDS', 'NATS_NKEY', 'NATS_CA', 'NATS_CERT', 'NATS_KEY', 'NATS_REPLICAS', 'NATS_STREAMS', 'PARTITIONS']],
];

export function readSettings(env: Record<string, string | undefined>): SettingsResult {
  const faults: string[] = [];
  // An empty variable is an unset one.
  const value = (variable: string) => env[variable]?.trim() || undefined;

  function read(setting: Setting<unknown>): unknown {
    const given = value(setting.variable);
    const fallback = typeof setting.default === 'object' ? setting.default.from(value) : setting.default;
    const text = given ?? fallback;
    if (text === undefined) return undefined;
    const parsed = setting.parser.parse(text);
    if (parsed === undefined)
      faults.push(`${setting.variable}: expected ${setting.parser.expected}, got ${JSON.stringify(setting.secret ? '…' : text)}`);
    return parsed;
  }

  // The table's keys and the types of its parsers are those of Settings; a value that did not parse is a fault, and then none are returned.
  const settings = Object.fromEntries(Object.entries(SETTINGS).map(([key, setting]) => [key, read(setting)])) as Settings;
  if (settings.databaseUrl !== undefined && value('SECRET_KEY') === undefined)
    faults.push('SECRET_KEY: required when DATABASE_URL is set, so that every process shares one key');
  // Without faults so far `roles` is there. Neither of the two is a single installation that leaves a role out for a while.
  const leavesRolesOut = faults.length === 0 && ROLES.some((role) => !settings.roles.has(role));
  if (leavesRolesOut && settings.databaseUrl !== undefined && settings.natsUrl === undefined)
    faults.push('NATS_URL: required with DATABASE_URL when ROLES leaves a role out: no other process could read the events of this one');
  if (leavesRolesOut && settings.natsUrl !== undefined && settings.databaseUrl === undefined)
    faults.push('DATABASE_URL: required with NATS_URL when ROLES leaves a role out: this process would have a configuration of its own');
  if (settings.ingestPort !== undefined && settings.ingestPort === settings.port && settings.port !== 0)
    faults.push('INGEST_PORT: expected another port than PORT; leave it unset to use one listener for both');
  const { metricsPort } = settings;
  if (metricsPort !== undefined && metricsPort !== 0 && (metricsPort === settings.port || metricsPort === settings.ingestPort))
    faults.push('METRICS_PORT: expected another port than PORT and INGEST_PORT; leave it unset to serve metrics on the main listener');
  for (const [needed, dependents] of NEEDED)
    for (const variable of dependents)
      if (value(variable) !== undefined && value(needed) === undefined)
        faults.push(`${variable}: has no effect without ${needed}: set both or neither`);
  if ((settings.natsCert === undefined) !== (settings.natsKey === undefined))
    faults.push('NATS_CERT: NATS_CERT and NATS_KEY must be set together');
  if (settings.oidcIssuer !== undefined && settings.oidcClientId === undefined)
    faults.push('OIDC_CLIENT_ID: required when OIDC_ISSUER is set');
  if (settings.oidcIssuer?.startsWith('http:') === true && settings.mode === 'production')
    faults.push('OIDC_ISSUER: expected an https address in production');
  if (settings.localLogin === false && settings.oidcIssuer === undefined)
    faults.push('LOCAL_LOGIN: false needs OIDC_ISSUER, or nobody could sign in');
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings };
}
