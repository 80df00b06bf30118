import { anyText, atLeastLong, duration, emailAddress, flag, oneOf, publicUrl, roleMap, setOf } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export type Role = 'admin' | 'ingest' | 'process' | 'deliver';
export const ROLES: readonly Role[] = ['admin', 'ingest', 'process', 'deliver'];

export const ROLES_AND_SECURITY = {
  threads: setting({
    variable: 'THREADS',
    default: 'auto',
    parser: oneOf('auto', '1', '2', '3'),
    meaning:
      'Threads of the roles on the embedded stores. With `2`, the management API has a thread of its own, so that no event waits for it; it takes about 25 MB more memory. With `3`, processing and delivery have one too, so that requests do not wait for them; it takes about 80 MB more. `auto` is 3 on a machine with at least four processors, else 2. Other settings of the stores have one thread for each process.',
  }),
  roles: setting<ReadonlySet<Role>>({
    variable: 'ROLES',
    default: ROLES.join(','),
    parser: setOf(ROLES),
    meaning: 'Roles that this process runs. Other processes can run the rest with `DATABASE_URL` and `NATS_URL`: set both, or neither.',
  }),
  mode: setting({
    variable: 'MODE',
    default: 'development',
    parser: oneOf('development', 'production'),
    meaning: '`production` refuses plain HTTP and private destinations, and localhost origins.',
  }),
  secretKey: optional({
    variable: 'SECRET_KEY',
    unset: 'generated into `DATA_DIR`',
    parser: atLeastLong(16),
    secret: true,
    meaning: 'Master key: signs tokens and wraps the keys of stored secrets. Required with `DATABASE_URL`.',
  }),
  ownerEmail: setting({
    variable: 'OWNER_EMAIL',
    default: 'owner@localhost',
    parser: emailAddress,
    meaning: 'E-mail address of the first owner, created at the first start.',
  }),
  ownerPassword: optional({
    variable: 'OWNER_PASSWORD',
    unset: 'generated and printed once',
    parser: atLeastLong(12),
    secret: true,
    meaning: 'Password of the first owner.',
  }),
  localLogin: setting({
    variable: 'LOCAL_LOGIN',
    default: 'true',
    parser: flag,
    meaning:
      'Whether users may sign in with a password. With `false` only OIDC works, and for an hour a user whose password was reset with `firsthand user reset-password`.',
  }),
  oidcIssuer: optional({
    variable: 'OIDC_ISSUER',
    unset: 'no OIDC',
    parser: publicUrl,
    meaning: 'OpenID Connect issuer to sign in with. The redirect address to register there is `{BASE_URL}/v1/admin/auth/oidc/callback`.',
  }),
  oidcClientId: optional({
    variable: 'OIDC_CLIENT_ID',
    parser: anyText,
    meaning: 'Client id at the issuer. Required with `OIDC_ISSUER`.',
  }),
  oidcClientSecret: optional({
    variable: 'OIDC_CLIENT_SECRET',
    unset: 'public client',
    parser: anyText,
    secret: true,
    meaning: 'Client secret at the issuer.',
  }),
  oidcRoleClaim: optional({
    variable: 'OIDC_ROLE_CLAIM',
    unset: 'new users are viewers',
    parser: anyText,
    meaning: 'Claim of the ID token that decides the role at every sign-in, such as `groups` or `realm_access.roles`.',
  }),
  oidcRoleMap: optional({
    variable: 'OIDC_ROLE_MAP',
    unset: 'the claim holds role names',
    parser: roleMap,
    meaning: 'Groups and their roles: `firsthand-admins=admin,staff=viewer`. The highest role wins; a user without one cannot sign in.',
  }),
  accessTokenTtlMs: setting({
    variable: 'ACCESS_TOKEN_TTL',
    default: '15m',
    parser: duration,
    meaning: 'Lifetime of an access token.',
  }),
  refreshTokenTtlMs: setting({
    variable: 'REFRESH_TOKEN_TTL',
    default: '7d',
    parser: duration,
    meaning: 'Lifetime of a refresh token.',
  }),
  challengeTokenTtlMs: setting({
    variable: 'CHALLENGE_TOKEN_TTL',
    default: '5m',
    parser: duration,
    meaning: 'Lifetime of a challenge token.',
  }),
};
