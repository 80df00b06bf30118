/**
 * The name of an operation in generated clients: `listPipelines`, `createIntegration`, `deletePipelineTransformation`. Derived from method
 * and path. Paths that do not read as nouns have explicit names below.
 */
export function operationIdOf({ method, url }: { method: string; url: string }): string {
  const path = url.replace(/^\/v1\/admin\//, '/');
  const own = NAMES[`${method} ${path}`];
  if (own !== undefined) return own;
  const parts = path.split('/').filter((part) => part !== '');
  const isOne = parts.at(-1)?.startsWith(':') === true;
  const nouns = parts.filter((part) => !part.startsWith(':'));
  const isList = method === 'GET' && !isOne && nouns.at(-1)?.endsWith('s') === true;
  const verb = isList ? 'list' : (VERBS[method] ?? method.toLowerCase());
  const words = nouns.map((noun, at) => pascal(isList && at === nouns.length - 1 ? noun : singular(noun)));
  return `${verb}${words.join('')}`;
}

const VERBS: Record<string, string> = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' };

function singular(noun: string): string {
  return noun.endsWith('s') ? noun.slice(0, -1) : noun;
}
function pascal(words: string): string {
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

const NAMES: Readonly<Record<string, string>> = {
  'GET /openapi.json': 'getOpenApiDocument',
  'POST /auth/login': 'login',
  'POST /auth/refresh': 'refreshTokens',
  'POST /auth/session': 'createSession',
  'POST /auth/session/refresh': 'refreshSession',
  'DELETE /auth/session': 'deleteSession',
  'GET /auth/oidc/start': 'startOidcSignIn',
  'GET /auth/oidc/callback': 'completeOidcSignIn',
  'GET /users/me': 'getCurrentUser',
  'GET /users/me/totp': 'getTotp',
  'POST /users/me/totp': 'setUpTotp',
  'POST /users/me/totp/confirm': 'confirmTotp',
  'POST /users/me/totp/disable': 'disableTotp',
  'PUT /users/me/password': 'changePassword',
  'POST /pipelines/:id/rotate-secret': 'rotatePipelineSecret',
  'POST /pipelines/:id/tokens': 'createChallengeToken',
  'POST /pipelines/:id/collector/build': 'buildCollector',
  'GET /pipelines/:id/collector/status': 'getCollectorStatus',
  'GET /pipelines/:id/collector/download': 'downloadCollector',
  'GET /pipelines/:id/collector/snippet': 'getCollectorSnippet',
  'GET /integration-catalog': 'listCatalogVendors',
  'GET /integration-catalog/:vendor': 'getCatalogVendor',
  'POST /integration-catalog/:vendor/install': 'installCatalogVendor',
  'POST /integration-catalog/:vendor/test': 'testCatalogVendor',
  'POST /integration-templates/:id/connect': 'connectIntegrationTemplate',
  'POST /integrations/:id/connect': 'connectIntegration',
  'GET /v1/oauth/callback': 'completeConnection',
  'GET /dlq': 'listDeadLetters',
  'GET /dlq/groups': 'listDeadLetterGroups',
  'GET /dlq/:id': 'getDeadLetter',
  'DELETE /dlq/:id': 'deleteDeadLetter',
  'POST /dlq/:id/replay': 'replayDeadLetter',
  'POST /dlq/replay': 'replayDeadLetters',
  'GET /stats': 'getStatistics',
  'GET /attention': 'listAttention',
  'POST /mapping/preview': 'previewMapping',
  'POST /integration-templates/:id/revisions/diff': 'diffRevisions',
  'POST /pipelines/:id/integrations/:integration_id/test': 'testPipelineIntegration',
  'POST /pipelines/:id/integrations/:integration_id/replay': 'replayHistory',
  'POST /privacy/erasure': 'erasePerson',
  'PUT /pipelines/:id/transformations/order': 'orderPipelineTransformations',
  'POST /transformations/test': 'testTransformation',
  'GET /pipelines/:id/tracking-plan': 'getTrackingPlan',
  'PUT /pipelines/:id/tracking-plan': 'updateTrackingPlan',
  'POST /webhook-sources/:id/rotate-secret': 'rotateWebhookSourceSecret',
  'GET /audit-logs/verify': 'verifyAuditLog',
};
