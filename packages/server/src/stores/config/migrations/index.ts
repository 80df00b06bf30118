import type { Schema } from '../schema.ts';
import { foundation } from './0001-foundation.ts';
import { collectorFiles } from './0002-collector-files.ts';
import { auditFilters } from './0003-audit-filters.ts';
import { loginPlaces } from './0004-login-places.ts';
import { keyedAudit } from './0005-keyed-audit.ts';
import { webhookConsent } from './0006-webhook-consent.ts';
import { signIn } from './0007-sign-in.ts';
import { testCases } from './0008-test-cases.ts';
import { connectRequests } from './0009-connect-requests.ts';
import { secretParameters } from './0010-secret-parameters.ts';
import { alerts } from './0011-alerts.ts';
import { brokerSources } from './0012-broker-sources.ts';
import { pipelineRetention } from './0013-pipeline-retention.ts';
import { maxInFlight } from './0014-max-in-flight.ts';
import { maxDeliverers } from './0015-max-deliverers.ts';
import { sealedChannels } from './0016-sealed-channels.ts';
import { changedDocuments } from './0017-changed-documents.ts';
import { integrationsList } from './0018-integrations-list.ts';
import { alertEndings } from './0019-alert-endings.ts';
import { embeddedStores } from './0020-embedded-stores.ts';
import type { Migration } from './migration.ts';

/** Ordered by hand; a test rejects gaps. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  collectorFiles,
  auditFilters,
  loginPlaces,
  keyedAudit,
  webhookConsent,
  signIn,
  testCases,
  connectRequests,
  secretParameters,
  alerts,
  brokerSources,
  pipelineRetention,
  maxInFlight,
  maxDeliverers,
  sealedChannels,
  changedDocuments,
  integrationsList,
  alertEndings,
  embeddedStores,
];

type ResourceTable = 'pipelines' | 'templates' | 'integrations' | 'transformations' | 'test_cases' | 'alerts' | 'webhook_sources';
export type AddedBy = { [T in ResourceTable]: Record<keyof Schema[T], Migration> };

/**
 * The migration that adds each column of a resource. A field of a resource that is missing here does not compile; a test checks the rest on
 * both engines.
 */
// biome-ignore format: lists of names
export const ADDED_BY = {
  pipelines: {
    ...all(foundation, 'id', 'org_id', 'name', 'slug', 'search_text', 'type', 'pipeline_key', 'pipeline_key_secret',
      'pipeline_key_secret_prefix', 'domain_allowlist', 'labels', 'rate_limit_rps', 'challenge_token_required', 'parameters', 'config',
      'js_builder_config', 'identity_config', 'enabled', 'row_version', 'created_at', 'updated_at', 'deleted_at'),
    parameter_secrets: secretParameters,
    retention_days: pipelineRetention,
  },
  templates: all(foundation, 'id', 'org_id', 'name', 'vendor', 'description', 'catalog_vendor_key', 'catalog_variant_key', 'row_version',
    'created_at', 'updated_at', 'deleted_at'),
  integrations: {
    ...all(foundation, 'id', 'org_id', 'pipeline_id', 'template_id', 'revision_number', 'name', 'enabled', 'consent_category',
      'event_filter', 'rate_limit_rps', 'rate_limit_burst', 'rate_limit_daily', 'row_version', 'created_at', 'updated_at', 'deleted_at'),
    max_in_flight: maxInFlight,
    max_deliverers: maxDeliverers,
  },
  transformations: all(foundation, 'id', 'org_id', 'pipeline_id', 'name', 'kind', 'rules', 'code', 'event_filter', 'enabled', 'position',
    'row_version', 'created_at', 'updated_at'),
  test_cases: all(testCases, 'id', 'org_id', 'name', 'event', 'pipeline_id', 'created_by', 'created_at'),
  alerts: {
    ...all(alerts, 'id', 'org_id', 'name', 'kind', 'pipeline_id', 'integration_id', 'threshold', 'window_minutes', 'channels', 'enabled',
      'created_at', 'updated_at'),
    sealed_channels: sealedChannels,
  },
  webhook_sources: {
    ...all(foundation, 'id', 'org_id', 'pipeline_id', 'name', 'source_type', 'provider', 'enabled', 'event_type_path', 'mappings',
      'event_name_map', 'timestamp_path', 'timestamp_format', 'signature_header', 'signature_method', 'signing_secret', 'row_version',
      'created_at', 'updated_at'),
    default_consent: webhookConsent,
    kind: brokerSources,
    connection: brokerSources,
  },
} satisfies AddedBy;

function all<C extends string>(migration: Migration, ...columns: C[]): Record<C, Migration> {
  return Object.fromEntries(columns.map((column) => [column, migration])) as Record<C, Migration>;
}
