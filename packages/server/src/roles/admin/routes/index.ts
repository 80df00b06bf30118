import type { AdminApp, AdminContext } from '../deps.ts';
import { alertRoutes } from './alerts.ts';
import { apiTokenRoutes } from './api-tokens.ts';
import { attentionRoutes } from './attention.ts';
import { auditRoutes } from './audit-logs.ts';
import { authRoutes } from './auth.ts';
import { catalogRoutes } from './catalog.ts';
import { collectorRoutes } from './collector.ts';
import { connectCallbackRoute, connectRoutes } from './connect.ts';
import { dataLayerRoutes } from './data-layer.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { documentRoutes } from './documents.ts';
import { testCaseRoutes } from './event-cases.ts';
import { eventTraceRoutes } from './event-trace.ts';
import { eventRoutes } from './events.ts';
import { fieldRoutes } from './fields.ts';
import { installationRoutes } from './installation.ts';
import { integrationRoutes } from './integrations.ts';
import { oidcRoutes } from './oidc.ts';
import { organisationRoutes } from './organisation.ts';
import { pipelineRoutes } from './pipelines.ts';
import { previewRoutes } from './previews.ts';
import { privacyRoutes } from './privacy.ts';
import { sessionRoutes } from './session.ts';
import { statsRoutes } from './stats.ts';
import { templateRoutes } from './templates.ts';
import { totpRoutes } from './totp.ts';
import { trackingPlanRoutes } from './tracking-plans.ts';
import { transformationRoutes } from './transformations.ts';
import { userRoutes } from './users.ts';
import { webhookSourceRoutes } from './webhook-sources.ts';

/** Registers every part of the management API. Paths omit the prefix. */
const ROUTES: readonly ((app: AdminApp, context: AdminContext) => void)[] = [
  authRoutes,
  sessionRoutes,
  oidcRoutes,
  userRoutes,
  totpRoutes,
  apiTokenRoutes,
  organisationRoutes,
  installationRoutes,
  pipelineRoutes,
  collectorRoutes,
  catalogRoutes,
  templateRoutes,
  integrationRoutes,
  connectRoutes,
  deadLetterRoutes,
  eventRoutes,
  eventTraceRoutes,
  fieldRoutes,
  statsRoutes,
  attentionRoutes,
  alertRoutes,
  previewRoutes,
  privacyRoutes,
  transformationRoutes,
  testCaseRoutes,
  dataLayerRoutes,
  trackingPlanRoutes,
  webhookSourceRoutes,
  auditRoutes,
];

export function registerRoutes(app: AdminApp, context: AdminContext): void {
  documentRoutes(app, context);
  connectCallbackRoute(app, context);
  void app.register(
    async (scope) => {
      for (const routes of ROUTES) routes(scope as AdminApp, context);
    },
    { prefix: '/v1/admin' },
  );
}
