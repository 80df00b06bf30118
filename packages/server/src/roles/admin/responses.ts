import type { ErrorObject } from 'ajv';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError, apiErrorBody } from '../../http/errors.ts';
import { compileStrict, faultsOf, validationError } from '../../http/validation.ts';
import { isUnavailable, isUniqueViolation } from '../../stores/config/availability.ts';
import { LogUnavailable } from '../../stores/event-log/port.ts';
import type { AdminApp, AdminDeps } from './deps.ts';
import { errorPage } from './docs/error-page.ts';
import { PAGE_HEADERS } from './docs/html.ts';
import { allowedMethods, methodNotAllowed } from './route-table.ts';
import { JsonBody } from './serialise.ts';

/** Sends errors of routes, the validator, Fastify and the database in the documented shape. */
export function installResponses(app: AdminApp, deps: AdminDeps): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const refusal = toApiError(error);
    // Fastify would close the connection while the client is still writing, and the client would see a broken pipe instead of the response.
    // Node reads and discards the rest of the body, until the request timeout.
    if (refusal.code === 'PAYLOAD_TOO_LARGE') void reply.removeHeader('connection');
    if (refusal.status >= 500) request.log.error({ err: error, route: request.routeOptions.url }, refusal.code);
    return request.routeOptions.config.forPeople === true && acceptsPages(request)
      ? sendErrorPage(reply, refusal)
      : sendError(reply, refusal);
  });
  app.setNotFoundHandler((request, reply) => {
    const methods = allowedMethods(app.routeTable, request.url);
    const page = methods.length === 0 ? app.consolePage(request, reply) : undefined;
    if (page !== undefined) return page;
    if (methods.length === 0) return sendError(reply, new ApiError('NOT_FOUND', { message: 'There is nothing at this address.' }));
    return sendError(reply, methodNotAllowed(methods));
  });
  app.addHook('onResponse', async (request, reply) => logOutcome(request, reply));
  if (deps.checkAnswers === true) checkAnswers(app);
}

function acceptsPages({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
function sendErrorPage(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply
    .code(error.status)
    .headers({ ...error.headers, ...PAGE_HEADERS, vary: 'Accept' })
    .type('text/html; charset=utf-8')
    .send(errorPage(error.message));
}
function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(apiErrorBody(error)));
}

/** URLs that no route matches: not decodable, or longer than any id. */
const UNROUTABLE = new Set(['FST_ERR_BAD_URL', 'FST_ERR_MAX_PARAM_LENGTH', 'FST_ERR_ASYNC_CONSTRAINT']);

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { validation, validationContext, code, statusCode } = error as FastifyError;
  if (validation !== undefined) return validationError(validation as ErrorObject[], validationContext);
  if (isUnavailable(error)) return new ApiError('UNAVAILABLE', { cause: error, retryAfterS: 2 });
  if (error instanceof LogUnavailable)
    return new ApiError('UNAVAILABLE', { message: 'The event log cannot be reached: try again soon.', cause: error, retryAfterS: 2 });
  if (isUniqueViolation(error)) return new ApiError('DUPLICATE_RESOURCE', { cause: error });
  if (typeof code === 'string' && UNROUTABLE.has(code)) return new ApiError('NOT_FOUND', { cause: error });
  if (statusCode === 413) return new ApiError('PAYLOAD_TOO_LARGE', { cause: error });
  if (typeof code === 'string' && code.startsWith('FST_ERR_') && statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new ApiError('INVALID_JSON', { message: 'The request could not be read.', cause: error });
  return new ApiError('INTERNAL_ERROR', { cause: error });
}

/** Logs the route, not the URL: a query may contain personal data. */
function logOutcome(request: FastifyRequest, reply: FastifyReply): void {
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url ?? null,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      user_id: request.user?.id,
    },
    'request',
  );
}

function checkAnswers(app: AdminApp): void {
  const compiled = new Map<TSchema, ReturnType<typeof compileStrict>>();
  app.addHook('preSerialization', async (request, reply, payload) => {
    const answers = request.routeOptions.schema?.response as Record<number, TSchema> | undefined;
    const schema = answers?.[reply.statusCode];
    if (schema === undefined)
      throw new Error(`${request.method} ${request.routeOptions.url} answers ${reply.statusCode} without a schema.`);
    let validate = compiled.get(schema);
    if (validate === undefined) compiled.set(schema, (validate = compileStrict(schema)));
    if (!validate(JSON.parse(payload instanceof JsonBody ? String(payload.json) : JSON.stringify(payload))))
      throw new Error(
        `${request.method} ${request.routeOptions.url}: the answer does not fit: ${JSON.stringify(faultsOf(validate.errors ?? []))}`,
      );
    return payload;
  });
}
