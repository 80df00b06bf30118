import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { LogController } from 'fastify';
import { requestId } from '../../http/request-id.ts';
import { validatorCompiler } from '../../http/validation.ts';
import { turns } from '../../runtime/turns.ts';
import { createAuthenticate } from './auth/authenticate.ts';
import { createPipelineScope } from './auth/pipeline-scope.ts';
import type { AdminApp, AdminContext, AdminDeps } from './deps.ts';
import { createBudgetCheck } from './organisation-budget.ts';
import { installRequestBodies } from './request-bodies.ts';
import { installResponses } from './responses.ts';
import { collectRoutes, rejectSiblingMethods } from './route-table.ts';
import { registerRoutes } from './routes/index.ts';
import { JsonBody, serialiseLarge } from './serialise.ts';
import { createWrite } from './write.ts';

const BODY_LIMIT = 1_048_576;

/** The management API, ready to be mounted on a `node:http` listener through `app.routing` once `app.ready()` has settled. */
export function buildAdminApp(deps: AdminDeps): AdminApp {
  const app: AdminApp = Fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_LIMIT,
    trustProxy: trusted(deps.settings.trustProxy),
    genReqId: (request) => requestId(request.headers['x-request-id']),
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', request.id);
      app.errorHandler(error, request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  const checkBudget = createBudgetCheck(deps.operations.snapshots, deps.cipher);
  const context: AdminContext = { ...deps, write: createWrite({ ...deps, checkBudget }) };

  collectRoutes(app);
  app.setValidatorCompiler(validatorCompiler);
  // JSON.stringify instead of a serialiser per schema: queries name their columns, and the tests check responses against their schemas.
  // The cast: Fastify also takes a Buffer, unlike its type.
  app.setSerializerCompiler(() => (data: unknown) => (data instanceof JsonBody ? (data.json as string) : JSON.stringify(data)));
  app.addHook('onRequest', async (request, reply) => {
    // Responses contain tokens, secrets that are shown once, and private data.
    void reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });
  rejectSiblingMethods(app);
  // Many requests at once share the slices of background work: a flood of them does not hold up events.
  app.addHook('onRequest', async () => {
    const turn = turns.next();
    if (turn !== undefined) await turn;
  });
  app.addHook('onRequest', createAuthenticate(deps));
  app.addHook('preHandler', createPipelineScope(deps));
  installRequestBodies(app);
  installResponses(app, deps);
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    return request.routeOptions.config.ownSerializer === true ? payload : await serialiseLarge(payload);
  });
  registerRoutes(app, context);
  return app;
}

/** A number n trusts the nearest n hops. */
function trusted(proxies: AdminDeps['settings']['trustProxy']) {
  return typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : (proxies ?? false);
}
