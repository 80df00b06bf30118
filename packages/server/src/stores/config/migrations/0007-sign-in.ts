import type { Migration } from './migration.ts';

/** API tokens, TOTP and recovery codes, and the link between a user and an identity provider. */
export const signIn: Migration = {
  id: 7,
  name: 'sign-in',
  sql: ({ text, bigint }) => [
    `create table api_tokens (id ${text} primary key, org_id ${text} not null references organisations (id),
       user_id ${text} not null references users (id) on delete cascade, name ${text} not null, role ${text} not null,
       pipeline_ids ${text}, token_hash ${text} not null unique, token_prefix ${text} not null, expires_at ${text}, last_used_at ${text},
       created_at ${text} not null)`,
    'create index api_tokens_list on api_tokens (org_id, created_at, id)',
    'create index api_tokens_user on api_tokens (user_id)',

    `alter table users add column totp_secret ${text}`,
    `alter table users add column totp_last_step ${bigint} not null default 0`,
    `create table recovery_codes (code_hash ${text} primary key, user_id ${text} not null references users (id) on delete cascade)`,
    'create index recovery_codes_user on recovery_codes (user_id)',

    `alter table users add column local_login_until ${text}`,
    `alter table users add column oidc_subject ${text}`,
    'create unique index users_oidc_subject on users (oidc_subject) where oidc_subject is not null',
  ],
};
