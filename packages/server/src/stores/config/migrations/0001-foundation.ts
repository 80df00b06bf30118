import type { Migration } from './migration.ts';

export const foundation: Migration = {
  id: 1,
  name: 'foundation',
  breaks: true,
  sql: ({ text, bigint, immutable }) => [
    `create table organisations (id ${text} primary key, name ${text} not null, data_key ${text} not null,
       row_version ${bigint} not null, created_at ${text} not null, updated_at ${text} not null)`,

    `create table users (id ${text} primary key, org_id ${text} not null references organisations (id), email ${text} not null unique,
       name ${text} not null, role ${text} not null, status ${text} not null, password_hash ${text} not null,
       token_epoch ${bigint} not null default 0, last_login_at ${text}, created_at ${text} not null, updated_at ${text} not null)`,
    'create index users_org on users (org_id)',

    `create table sessions (id ${text} primary key, user_id ${text} not null references users (id) on delete cascade,
       token_epoch ${bigint} not null, expires_at ${text} not null, created_at ${text} not null)`,
    'create index sessions_user on sessions (user_id)',
    'create index sessions_expiry on sessions (expires_at)',

    `create table refresh_tokens (token_hash ${text} primary key, session_id ${text} not null references sessions (id) on delete cascade,
       user_id ${text} not null, used_at ${text}, expires_at ${text} not null)`,
    'create index refresh_tokens_session on refresh_tokens (session_id)',

    `create table login_attempts (address_hash ${text} primary key, window_started_ms ${bigint} not null, attempts ${bigint} not null,
       failures ${bigint} not null, locked_until_ms ${bigint} not null)`,
    'create index login_attempts_window on login_attempts (window_started_ms)',

    `create table pipelines (id ${text} primary key, org_id ${text} not null references organisations (id), name ${text} not null,
       slug ${text} not null, search_text ${text} not null, type ${text} not null, pipeline_key ${text} not null unique,
       pipeline_key_secret ${text} not null, pipeline_key_secret_prefix ${text} not null, domain_allowlist ${text} not null,
       labels ${text} not null, rate_limit_rps ${bigint} not null, challenge_token_required ${bigint} not null,
       parameters ${text} not null, config ${text} not null, js_builder_config ${text} not null, identity_config ${text} not null,
       enabled ${bigint} not null, row_version ${bigint} not null, created_at ${text} not null, updated_at ${text} not null,
       deleted_at ${text})`,
    // A deleted pipeline's slug is free again.
    'create unique index pipelines_slug on pipelines (org_id, slug) where deleted_at is null',
    'create index pipelines_list on pipelines (org_id, created_at, id)',

    `create table pipeline_labels (pipeline_id ${text} not null references pipelines (id), org_id ${text} not null,
       label ${text} not null, primary key (pipeline_id, label))`,
    'create index pipeline_labels_label on pipeline_labels (org_id, label)',

    `create table templates (id ${text} primary key, org_id ${text} not null references organisations (id), name ${text} not null,
       vendor ${text} not null, description ${text} not null, catalog_vendor_key ${text}, catalog_variant_key ${text},
       row_version ${bigint} not null, created_at ${text} not null, updated_at ${text} not null, deleted_at ${text})`,
    'create index templates_list on templates (org_id, created_at, id)',

    `create table revisions (id ${text} primary key, template_id ${text} not null references templates (id), org_id ${text} not null,
       revision_number ${bigint} not null, config ${text} not null, secrets ${text}, delivery_mode ${text} not null,
       change_summary ${text} not null, created_by ${text} not null, created_at ${text} not null,
       unique (template_id, revision_number))`,
    ...immutable('revisions'),

    `create table integrations (id ${text} primary key, org_id ${text} not null, pipeline_id ${text} not null references pipelines (id),
       template_id ${text} not null references templates (id), revision_number ${bigint} not null, name ${text} not null,
       enabled ${bigint} not null, consent_category ${text}, event_filter ${text}, rate_limit_rps double precision,
       rate_limit_burst double precision, rate_limit_daily double precision, row_version ${bigint} not null,
       created_at ${text} not null, updated_at ${text} not null, deleted_at ${text})`,
    'create index integrations_pipeline on integrations (pipeline_id, created_at, id)',
    'create index integrations_template on integrations (template_id)',

    `create table transformations (id ${text} primary key, org_id ${text} not null,
       pipeline_id ${text} not null references pipelines (id), name ${text} not null, kind ${text} not null, rules ${text} not null,
       code ${text} not null, event_filter ${text}, enabled ${bigint} not null, position ${bigint} not null,
       row_version ${bigint} not null, created_at ${text} not null, updated_at ${text} not null)`,
    'create index transformations_pipeline on transformations (pipeline_id, position, id)',

    `create table tracking_plans (pipeline_id ${text} primary key references pipelines (id), org_id ${text} not null, plan ${text} not null,
       row_version ${bigint} not null, updated_at ${text} not null, updated_by ${text} not null)`,

    `create table webhook_sources (id ${text} primary key, org_id ${text} not null,
       pipeline_id ${text} not null references pipelines (id), name ${text} not null, source_type ${text} not null,
       provider ${text} not null, enabled ${bigint} not null, event_type_path ${text}, mappings ${text} not null,
       event_name_map ${text} not null, timestamp_path ${text}, timestamp_format ${text}, signature_header ${text},
       signature_method ${text}, signing_secret ${text} not null, row_version ${bigint} not null, created_at ${text} not null,
       updated_at ${text} not null)`,
    'create index webhook_sources_list on webhook_sources (org_id, created_at, id)',

    `create table data_layers (org_id ${text} primary key references organisations (id), config ${text} not null,
       version ${bigint} not null, row_version ${bigint} not null, updated_at ${text} not null, updated_by ${text} not null)`,

    `create table audit_logs (id ${text} primary key, org_id ${text} not null, seq ${bigint} not null, user_id ${text}, user_email ${text},
       action ${text} not null, resource_type ${text} not null, resource_id ${text}, changes ${text} not null, ip_address ${text},
       user_agent ${text}, timestamp ${text} not null, previous_hash ${text} not null, hash ${text} not null, unique (org_id, seq))`,
    'create index audit_logs_resource on audit_logs (org_id, resource_id)',
    ...immutable('audit_logs'),
    `create table audit_heads (org_id ${text} primary key, seq ${bigint} not null, hash ${text} not null)`,

    `create table collector_builds (id ${text} primary key, org_id ${text} not null,
       pipeline_id ${text} not null references pipelines (id), status ${text} not null, script_filename ${text} not null,
       version_hash ${text}, file_size_bytes ${bigint}, source ${text}, error ${text}, created_by ${text} not null,
       created_at ${text} not null, built_at ${text})`,
    'create index collector_builds_pipeline on collector_builds (pipeline_id, created_at)',

    `create table config_version (id ${bigint} primary key, version ${bigint} not null, urgent_version ${bigint} not null)`,
    'insert into config_version (id, version, urgent_version) values (1, 0, 0)',
  ],
};
