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
];
