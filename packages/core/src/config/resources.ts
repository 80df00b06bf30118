/**
 * The configuration as it is stored and as the management API shows it: names on the wire are names in code.
 * Secrets inside `config` and `signing_secret` are plain here: the store decrypts on the way out, masks are made at the API's edge.
 */
import type { EventType } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';

export interface JsBuilderConfig {
  script_filename: string;
  global_variable: string;
  delivery_method: 'download' | 'cdn' | 'cluster';
  vendor_syncs: Record<string, VendorSync>;
  consent_config: ConsentConfig;
  cross_domain: boolean;
  variables?: PageVariable[];
}
export interface VendorSync {
  enabled?: boolean;
  consent_category?: string;
}
export interface ConsentConfig {
  provider?: 'auto' | 'onetrust' | 'cookiebot' | 'usercentrics' | 'didomi' | 'osano' | 'tcf' | 'google_consent_mode' | 'custom';
  wait_ms?: number;
  required_category?: string;
}
export interface PageVariable {
  name: string;
  source: 'data_layer' | 'js_variable' | 'cookie' | 'query' | 'meta' | 'selector';
  path: string;
  target: string;
}
export interface IdentityConfig {
  cross_domain_enabled: boolean;
  cross_domain_domains: string[];
  vendor_sync: JsonObject;
}

export interface Pipeline {
  id: string;
  org_id: string;
  name: string;
  slug: string;
  type: 'web' | 'app' | 'server';
  pipeline_key: string;
  pipeline_key_secret_prefix: string;
  domain_allowlist: string[];
  labels: string[];
  rate_limit_rps: number;
  challenge_token_required: boolean;
  parameters: Record<string, string>;
  config: PipelineConfig;
  js_builder_config: JsBuilderConfig;
  identity_config: IdentityConfig;
  enabled: boolean;
  created_at: string;
  updated_at: string;
}
export interface PipelineConfig {
  ip_allowlist?: string[];
  require_signature?: boolean;
}

export interface EventFilter {
  event_names?: string[];
}

export interface Template {
  id: string;
  org_id: string;
  name: string;
  vendor: string;
  description: string;
  catalog_vendor_key: string | null;
  catalog_variant_key: string | null;
  created_at: string;
  updated_at: string;
}
export type DeliveryMode = 'server_side' | 'client_side';
export interface Revision {
  id: string;
  integration_id: string;
  org_id: string;
  revision_number: number;
  config: JsonObject;
  delivery_mode: DeliveryMode;
  change_summary: string;
  created_by: string;
  created_at: string;
}
/** A template's revision, assigned to a pipeline. */
export interface Integration {
  id: string;
  org_id: string;
  pipeline_id: string;
  template_id: string;
  revision_number: number;
  name: string;
  vendor: string;
  delivery_mode: DeliveryMode;
  enabled: boolean;
  consent_category: string | null;
  event_filter: EventFilter | null;
  rate_limit_rps: number | null;
  rate_limit_burst: number | null;
  rate_limit_daily: number | null;
  created_at: string;
  updated_at: string;
}

/** Filter operators and groups: mappings, rules, routing. */
export type Condition =
  | { field: string; op: ConditionOp; value?: unknown }
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };
export type ConditionOp =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'not_in'
  | 'contains'
  | 'starts_with'
  | 'ends_with'
  | 'matches'
  | 'exists'
  | 'not_exists';

export interface TransformUse {
  name: string;
  args?: unknown[];
}
export type Rule =
  | { type: 'set'; target: string; value: unknown; condition?: Condition }
  | { type: 'rename'; source: string; target: string; condition?: Condition }
  | { type: 'delete'; target: string; condition?: Condition }
  | {
      type: 'map';
      source: string | string[];
      target: string;
      transforms?: (string | TransformUse)[];
      value_map?: Record<string, unknown>;
      default?: unknown;
      condition?: Condition;
    }
  | { type: 'filter'; condition: Condition }
  | { type: 'compute'; target: string; expression: string; condition?: Condition };

export interface Transformation {
  id: string;
  org_id: string;
  pipeline_id: string;
  name: string;
  kind: 'rules' | 'code';
  rules: Rule[];
  code: string;
  event_filter: EventFilter | null;
  enabled: boolean;
  position: number;
  created_at: string;
  updated_at: string;
}

export interface TrackingPlan {
  events: Record<string, JsonObject>;
  on_violation: 'allow' | 'flag' | 'drop';
}

export interface DataLayerConfig {
  consent: { mapping: Record<string, string>; default: Record<string, boolean>; honour_gpc: boolean };
  bot_filtering: { action: 'flag' | 'drop' | 'allow'; block_empty_user_agent: boolean; custom_patterns: string[] };
  pii_rules: {
    ip: 'keep' | 'truncate' | 'drop';
    fields: { path: string; action: PiiAction }[];
    detect: ('email' | 'phone' | 'card' | 'iban')[];
    detect_action: PiiAction;
    url_params: string[];
  };
  session: { timeout_minutes: number };
  identity: { remember_traits: string[] };
  custom_js: { enabled: boolean; code: string };
  routing_rules: { condition: Condition; action: 'drop' | 'pass'; pipeline_ids?: string[] }[];
}
export type PiiAction = 'hash' | 'redact' | 'drop';

export const DEFAULT_DATA_LAYER: DataLayerConfig = {
  consent: { mapping: { necessary: 'essential', statistics: 'analytics', marketing: 'marketing' }, default: {}, honour_gpc: true },
  bot_filtering: { action: 'flag', block_empty_user_agent: false, custom_patterns: [] },
  pii_rules: { ip: 'keep', fields: [], detect: [], detect_action: 'redact', url_params: [] },
  session: { timeout_minutes: 30 },
  identity: { remember_traits: [] },
  custom_js: { enabled: false, code: '' },
  routing_rules: [],
};

export type WebhookSourceType = 'payment_processor' | 'ecommerce_platform' | 'crm' | 'form_service' | 'messaging_service' | 'custom';
export type WebhookProvider = 'stripe' | 'shopify' | 'hubspot' | 'typeform' | 'intercom' | 'custom';
export interface WebhookSource {
  id: string;
  org_id: string;
  pipeline_id: string;
  name: string;
  source_type: WebhookSourceType;
  provider: WebhookProvider;
  enabled: boolean;
  event_type_path: string | null;
  mappings: Record<string, string>;
  event_name_map: Record<string, string>;
  timestamp_path: string | null;
  timestamp_format: 'unix_seconds' | 'unix_millis' | 'iso8601' | null;
  signature_header: string | null;
  signature_method: 'hmac_sha256' | 'standard_webhooks' | 'shared_secret' | 'none' | null;
  signing_secret: string;
  created_at: string;
  updated_at: string;
}

export type { EventType };
