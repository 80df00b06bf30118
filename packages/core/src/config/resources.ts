/**
 * The types of the configuration, as it is stored and as the management API shows it. Each resource is declared in its own file.
 * Secrets inside `config` and `signing_secret` are plain here: the store decrypts them, and the API masks them.
 */
import type { JsonObject } from '../json.ts';
import type { DataLayerConfig } from './data-layer.ts';

export type { ConsentConfig } from './collector-settings.ts';
export type { DataLayerConfig, PiiAction } from './data-layer.ts';
export type { DeliveryMode } from './delivery-mode.ts';
export type { EventFilter } from './event-filter.ts';
export type { Integration } from './integration.ts';
export type { IdentityConfig, Pipeline } from './pipeline.ts';
export type { Revision } from './revision.ts';
export type { Condition, ConditionOp } from './rules.ts';
export type { Template } from './template.ts';
export type { Transformation } from './transformation.ts';
export type { WebhookProvider, WebhookSource, WebhookSourceType } from './webhook-source.ts';

export interface TrackingPlan {
  events: Record<string, JsonObject>;
  on_violation: 'allow' | 'flag' | 'drop';
}

export const DEFAULT_DATA_LAYER: DataLayerConfig = {
  consent: { mapping: { necessary: 'essential', statistics: 'analytics', marketing: 'marketing' }, default: {}, honour_gpc: true },
  bot_filtering: { action: 'flag', block_empty_user_agent: false, custom_patterns: [] },
  pii_rules: { ip: 'keep', fields: [], detect: [], detect_action: 'redact', url_params: [] },
  session: { timeout_minutes: 30 },
  identity: { remember_traits: [], click_id_days: {} },
  custom_js: { enabled: false, code: '' },
  routing_rules: [],
};
