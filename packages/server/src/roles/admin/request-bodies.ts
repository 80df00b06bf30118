import type { FastifyRequest } from 'fastify';
import { ApiError, invalid, invalidFields } from '../../http/errors.ts';
import { findUnsafeText, parseJsonBody, parseJsonInSteps, textFault } from '../../http/json-body.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { finishInTurns, turns, VERY_LARGE_BYTES } from '../../runtime/turns.ts';
import { prepareConfiguration } from '../../snapshot/prepare.ts';
import type { AdminApp } from './deps.ts';

/**
 * Bodies are parsed as JSON whatever their content type. GET and DELETE ignore the body; another route without a body schema takes none, or an
 * empty object. Each pass over a large body takes some milliseconds, so the loop gets a turn between them.
 */
export function installRequestBodies(app: AdminApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (request.routeOptions.schema?.body === undefined && (request.is404 || BODILESS.has(request.method) || bytes.length === 0))
      return undefined;
    return bytes.length > VERY_LARGE_BYTES ? await finishInTurns(parseJsonInSteps(bytes)) : parseJsonBody(bytes);
  });
  // Fastify would reject a malformed content type before any parser runs, and the method QUERY without one before its 405.
  app.addHook('onRequest', async (request) => {
    if (request.headers['content-type'] !== undefined || request.is404) request.headers['content-type'] = 'application/json';
  });
  // After authentication and validation: compiling the patterns of a configuration is the most expensive step that a body can cause.
  app.addHook('preHandler', async (request) => {
    await turns.bulk();
    atStep(`${request.method} ${request.routeOptions.url}`);
    const { config, schema } = request.routeOptions;
    // Configuration needs the role editor.
    if (schema?.body === undefined || config.role === 'public' || config.role === 'viewer') return;
    const { excess } = await prepareConfiguration(request.body);
    if (excess !== undefined) throw invalidFields([{ field: '', message: excess.message }]);
    await turns.bulk();
    atStep(`${request.method} ${request.routeOptions.url}`);
  });
  app.addHook('preValidation', async (request) => {
    atStep(`${request.method} ${request.routeOptions.url}`);
    const schema = request.routeOptions.schema?.body as { 'x-read-only'?: string[] } | undefined;
    for (const value of Object.values((request.params ?? {}) as Record<string, string>))
      if (textFault(value) !== undefined) throw new ApiError('NOT_FOUND');
    const query = findUnsafeText(request.query);
    if (query !== undefined) throw invalidFields([{ ...query, field: query.field || 'query' }]);
    if (schema === undefined) return requireEmpty(request.body);
    if ((request.body === undefined || request.body === null) && request.routeOptions.config.optionalBody === true) request.body = {};
    if (request.body === undefined || request.body === null) throw new ApiError('INVALID_JSON', { message: 'A JSON body is required.' });
    await turns.bulk();
    if (request.routeOptions.config.anyJson !== true) {
      const unsafe = findUnsafeText(request.body);
      if (unsafe !== undefined) throw invalidFields([unsafe]);
    }
    const body = request.body as Record<string, unknown>;
    if (typeof body === 'object' && !Array.isArray(body)) for (const field of schema['x-read-only'] ?? []) delete body[field];
    await turns.bulk();
    atStep(`${request.method} ${request.routeOptions.url}`);
  });
}

const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** A field that the route does not know must not pass silently: somebody who sends a secret to be rotated in would believe that it is set. */
function requireEmpty(body: unknown): void {
  if (body === undefined || body === null) return;
  if (typeof body !== 'object' || Array.isArray(body)) throw invalid('', 'must be an object');
  const fields = Object.keys(body);
  if (fields.length > 0) throw invalidFields(fields.map((field) => ({ field, message: 'is not a known field' })));
}
