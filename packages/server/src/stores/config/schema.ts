/**
 * The tables as Kysely types. One portable schema for SQLite and PostgreSQL: flags are 0 or 1, times are ISO 8601 text (sortable), JSON is
 * text (jsonb rejects \u0000). Resource rows are derived from their declarations in core/config.
 */

import type { alert } from '@firsthand/core/config/alert.ts';
import type { testCase } from '@firsthand/core/config/event-case.ts';
import type { integration } from '@firsthand/core/config/integration.ts';
import type { pipeline } from '@firsthand/core/config/pipeline.ts';
import type { RowOf } from '@firsthand/core/config/resource.ts';
import type { template } from '@firsthand/core/config/template.ts';
import type { transformation } from '@firsthand/core/config/transformation.ts';
import type { webhookSource } from '@firsthand/core/config/webhook-source.ts';
import type { Generated, Kysely } from 'kysely';

export type UserRole = 'viewer' | 'editor' | 'admin' | 'owner';
interface Versioned {
  /** The config version that wrote the row. */
  row_version: number;
}
interface SoftDeleted {
  deleted_at: string | null;
}

export interface OrganisationRow {
  id: string;
  name: string;
  /** The organisation's data key, wrapped under SECRET_KEY. */
  data_key: string;
  /** The start of the keyed part of the audit chain, sealed under the data key; null until the first keyed entry. */
  audit_anchor: Generated<string | null>;
  row_version: number;
  created_at: string;
  updated_at: string;
}
export interface UserRow {
  id: string;
  org_id: string;
  email: string;
  name: string;
  role: UserRole;
  status: 'active' | 'disabled';
  password_hash: string;
  /** Sessions of an earlier epoch are invalid: raising it ends every token of the user in one update. */
  token_epoch: Generated<number>;
  /** Sealed under the organisation's data key; null while two-step sign-in is off. */
  totp_secret: Generated<string | null>;
  /** The newest 30-second step whose code was used. Codes up to it are rejected. */
  totp_last_step: Generated<number>;
  /** Password sign-in works until then despite LOCAL_LOGIN=false. */
  local_login_until: Generated<string | null>;
  /** Issuer and subject at the identity provider. */
  oidc_subject: Generated<string | null>;
  last_login_at: string | null;
  created_at: string;
  updated_at: string;
}
export interface RecoveryCodeRow {
  code_hash: string;
  user_id: string;
}
export interface ApiTokenRow {
  id: string;
  org_id: string;
  /** The creator. Deleting this user deletes the token. */
  user_id: string;
  name: string;
  role: UserRole;
  /** JSON list; null means every pipeline. */
  pipeline_ids: string | null;
  /** SHA-256 of the token. */
  token_hash: string;
  token_prefix: string;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}
/** One login and all refresh tokens derived from it. */
export interface SessionRow {
  id: string;
  user_id: string;
  token_epoch: number;
  expires_at: string;
  created_at: string;
}
export interface RefreshTokenRow {
  /** SHA-256 of the token. */
  token_hash: string;
  session_id: string;
  user_id: string;
  used_at: string | null;
  expires_at: string;
}
export interface LoginAttemptRow {
  /** SHA-256 of the address. Hashed because unknown addresses are counted too and must not be stored in the clear. */
  address_hash: string;
  window_started_ms: number;
  attempts: number;
  failures: number;
  locked_until_ms: number;
}
export interface LoginPlaceRow {
  /** SHA-256 of the e-mail address and the client's network. */
  place_hash: string;
  seen_ms: number;
}
export interface PipelineRow extends RowOf<typeof pipeline>, Versioned, SoftDeleted {
  /** Lower-case name and slug, for searching: SQLite folds only ASCII. */
  search_text: string;
  /** Sealed under the organisation's data key. */
  pipeline_key_secret: string;
  /** Values of secret parameters, sealed; empty if there are none. Null: written before the column existed. */
  parameter_secrets: string | null;
}
export interface PipelineLabelRow {
  pipeline_id: string;
  org_id: string;
  label: string;
}
export interface TemplateRow extends RowOf<typeof template>, Versioned, SoftDeleted {}
export interface RevisionRow {
  id: string;
  template_id: string;
  org_id: string;
  revision_number: number;
  /** Without its secrets. */
  config: string;
  /** The secrets and their paths in the config, sealed; null if there are none. */
  secrets: string | null;
  delivery_mode: 'server_side' | 'client_side';
  change_summary: string;
  created_by: string;
  created_at: string;
}
export interface IntegrationRow extends RowOf<typeof integration>, Versioned, SoftDeleted {}
export interface TransformationRow extends RowOf<typeof transformation>, Versioned {}
export interface AlertRow extends RowOf<typeof alert> {
  /** Null: written before the column existed. */
  sealed_channels: string | null;
}
export interface AlertStateRow {
  alert_id: string;
  firing: 0 | 1;
  since: string;
  value: number;
  message: string;
  event_id: string | null;
  /** JSON: the last announcement to each channel. */
  announced: string;
}
export interface AlertEndingRow {
  alert_id: string;
  /** `channelKey`. */
  channel: string;
  org_id: string;
  /** The channel and the announcement as JSON, sealed. */
  sealed: string;
  created_at: string;
}
/** A store of the embedded ones beside the configuration that exists: see stores/data-dir.ts. */
export interface EmbeddedStoreRow {
  name: string;
  noted_at: string;
}
export interface TestCaseRow extends RowOf<typeof testCase> {}
export interface TrackingPlanRow {
  pipeline_id: string;
  org_id: string;
  plan: string;
  row_version: number;
  updated_at: string;
  updated_by: string;
}
export interface WebhookSourceRow extends RowOf<typeof webhookSource>, Versioned {
  /** Sealed under the organisation's data key. */
  signing_secret: string;
}
export interface DataLayerRow {
  org_id: string;
  config: string;
  version: number;
  row_version: number;
  updated_at: string;
  updated_by: string;
}
export interface AuditLogRow {
  id: string;
  org_id: string;
  /** Counts from 1 without a gap in each organisation. */
  seq: number;
  user_id: string | null;
  user_email: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changes: string;
  ip_address: string | null;
  user_agent: string | null;
  timestamp: string;
  previous_hash: string;
  hash: string;
}
/** The newest link of each organisation's chain. Locking this row serialises writers. */
export interface AuditHeadRow {
  org_id: string;
  seq: number;
  hash: string;
  /** HMAC over the three columns above; empty while the chain is not keyed. */
  mac: Generated<string>;
}
export interface CollectorBuildRow {
  id: string;
  org_id: string;
  pipeline_id: string;
  status: 'building' | 'ready' | 'failed';
  script_filename: string;
  version_hash: string | null;
  file_size_bytes: number | null;
  /** Null before the build, and again once newer builds have replaced it. */
  source: string | null;
  source_map: string | null;
  error: string | null;
  created_by: string;
  created_at: string;
  built_at: string | null;
  row_version: number;
}
/** An OAuth connection that was started and not finished. */
export interface ConnectRequestRow {
  /** SHA-256 of the `state` parameter. */
  state_hash: string;
  org_id: string;
  user_id: string;
  session_id: string;
  /** SHA-256 of a cookie: only the browser that started the connection can finish it. */
  browser_hash: string;
  template_id: string;
  /** Null: the template itself, without a pipeline. */
  integration_id: string | null;
  /** Sealed: PKCE verifier, redirect URI, and the client that the code is for. */
  secrets: string;
  expires_at: string;
}
export interface ConfigVersionRow {
  id: number;
  version: number;
  urgent_version: number;
}
export interface MigrationRow {
  id: number;
  name: string;
  applied_at: string;
}

export interface Schema {
  /** One row: the oldest schema that a program must know to use this database. */
  schema_floor: { id: number; oldest: number };
  organisations: OrganisationRow;
  users: UserRow;
  sessions: SessionRow;
  refresh_tokens: RefreshTokenRow;
  recovery_codes: RecoveryCodeRow;
  api_tokens: ApiTokenRow;
  login_attempts: LoginAttemptRow;
  login_places: LoginPlaceRow;
  pipelines: PipelineRow;
  pipeline_labels: PipelineLabelRow;
  templates: TemplateRow;
  revisions: RevisionRow;
  integrations: IntegrationRow;
  transformations: TransformationRow;
  test_cases: TestCaseRow;
  alerts: AlertRow;
  alert_states: AlertStateRow;
  alert_endings: AlertEndingRow;
  embedded_stores: EmbeddedStoreRow;
  tracking_plans: TrackingPlanRow;
  webhook_sources: WebhookSourceRow;
  data_layers: DataLayerRow;
  audit_logs: AuditLogRow;
  audit_heads: AuditHeadRow;
  collector_builds: CollectorBuildRow;
  connect_requests: ConnectRequestRow;
  config_version: ConfigVersionRow;
  schema_migrations: MigrationRow;
}
/** The database or a transaction; every query accepts both. */
export type Db = Kysely<Schema>;

/** Written to every row that a change touches. */
export interface Stamp {
  row_version: number;
  now: string;
}
