/** A pipeline's rules for ingest, compiled once per snapshot, so that a request needs only calls and comparisons. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Pipeline } from '@firsthand/core/config/resources.ts';
import { readSyncs, type SyncRule } from '@firsthand/core/context/vendor-syncs.ts';
import { envelopeFields } from '@firsthand/core/event/envelope.ts';
import type { Settings } from '../config.ts';
import { eventRecordId } from '../event-record.ts';
import { addressMatcher } from '../network/address-matcher.ts';
import { EMBEDDED_PARTITIONS, ingestPartitions, PartitionMap } from '../partition.ts';
import { originMatcher } from './origin-matcher.ts';

export interface IngestRules {
  orgId: string;
  pipelineId: string;
  enabled: boolean;
  /** `type: server`: address and signature rules apply, and the connection's address is not the visitor's. */
  server: boolean;
  allowsOrigin(origin: string): boolean;
  /** Undefined if every address may send. */
  allowsAddress: ((address: string) => boolean) | undefined;
  requireSignature: boolean;
  /** The pipeline key secret, as a KeyObject so that it cannot be printed. */
  signingKey: KeyObject;
  challengeRequired: boolean;
  /** Events per second. */
  rate: number;
  /** Consent required to set the `_df_id` cookie. */
  requiredCategory: string | undefined;
  syncs: readonly SyncRule[];
  /** The pipeline's envelope fields as text, from `envelopeFields`. */
  envelope: string;
  /** Prefix of record ids, before the event id. */
  recordPrefix: string;
  /** Decides the topic of an event; a visitor's events always go to the same one. */
  partitions: Pick<PartitionMap, 'topicOf'>;
}

const EMBEDDED = new PartitionMap([{ count: EMBEDDED_PARTITIONS, from: 0 }]);

export function compileIngestRules(pipeline: Pipeline, secret: string, settings: Pick<Settings, 'mode' | 'natsUrl'>): IngestRules {
  const server = pipeline.type === 'server';
  const addresses = pipeline.config.ip_allowlist ?? [];
  return {
    orgId: pipeline.org_id,
    pipelineId: pipeline.id,
    enabled: pipeline.enabled,
    server,
    allowsOrigin: originMatcher(pipeline.domain_allowlist, settings.mode === 'development'),
    allowsAddress: server && addresses.length > 0 ? addressMatcher(addresses) : undefined,
    requireSignature: server && pipeline.config.require_signature === true,
    signingKey: createSecretKey(Buffer.from(secret, 'utf8')),
    challengeRequired: pipeline.challenge_token_required,
    rate: pipeline.rate_limit_rps,
    requiredCategory: pipeline.js_builder_config.consent_config?.required_category || undefined,
    syncs: readSyncs(pipeline).filter(({ enabled }) => enabled),
    envelope: envelopeFields({ org_id: pipeline.org_id, pipeline_id: pipeline.id }),
    recordPrefix: eventRecordId(pipeline.id, ''),
    partitions: settings.natsUrl === undefined ? EMBEDDED : ingestPartitions,
  };
}
