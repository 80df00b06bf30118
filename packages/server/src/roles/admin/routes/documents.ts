import { DIST_FOLDER } from '@firsthand/console/dist-folder.ts';
import { Type } from '@firsthand/core/config/type.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../../http/errors.ts';
import { type OpenApiPaths, openApiDocument } from '../../../http/openapi.ts';
import { turns } from '../../../runtime/turns.ts';
import { DEBUG_PATH } from '../../../tap/socket.ts';
import { openConsoleFiles } from '../console/console-files.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { PAGE_HEADERS } from '../docs/html.ts';
import { docsPage } from '../docs/page.ts';

/** The OpenAPI document, its HTML page, and the front page. */
export function documentRoutes(app: AdminApp, context: AdminContext): void {
  const more: OpenApiPaths[] = [];
  /** The bytes: encoding a megabyte of text for each request takes several milliseconds. */
  let built: { document: object; bytes: Buffer } | undefined;
  let page: Promise<Buffer> | undefined;
  app.decorate('addToOpenApi', (paths: OpenApiPaths) => {
    more.push(paths);
    built = page = undefined;
  });
  function current() {
    if (built !== undefined) return built;
    const document = openApiDocument({ version: context.version, baseUrl: context.settings.baseUrl, routes: app.routeTable, more });
    return (built = { document, bytes: Buffer.from(JSON.stringify(document)) });
  }
  // Before the first request: building and writing the document takes tens of milliseconds.
  app.addHook('onReady', async () => void current());

  app.get(
    '/v1/admin/openapi.json',
    {
      config: { role: 'public' },
      schema: {
        summary: 'This document',
        tags: ['Service'],
        response: { 200: Type.Object({}, { additionalProperties: true, description: 'OpenAPI 3.1' }) },
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send(current().bytes),
  );
  // Only plain requests get here: the listener handles WebSocket handshakes.
  app.get(DEBUG_PATH, { config: { role: 'public', undocumented: true } }, async () => {
    throw new ApiError('UPGRADE_REQUIRED', { headers: { upgrade: 'websocket' } });
  });
  app.get('/docs', { config: { role: 'public', undocumented: true } }, async (_request, reply) => {
    page ??= docsPage(current().document, turns.bulk).then((html) => Buffer.from(html));
    return reply
      .type('text/html; charset=utf-8')
      .headers(PAGE_HEADERS)
      .send(await page);
  });
  const files = openConsoleFiles(DIST_FOLDER);
  const sendFile = (request: FastifyRequest, reply: FastifyReply, path: string) => {
    const sent = files.send(request, reply, path);
    if (sent === undefined) throw new ApiError('NOT_FOUND', { message: 'There is nothing at this address.' });
    return sent;
  };
  const pageOptions = { config: { role: 'public', undocumented: true } } as const;
  app.get(
    '/',
    pageOptions,
    async (request, reply) =>
      files.send(request, reply, '/') ?? reply.type('text/plain; charset=utf-8').send('The console is not built. Run: npm run build\n'),
  );
  app.get('/favicon.svg', pageOptions, async (request, reply) => sendFile(request, reply, '/favicon.svg'));
  app.get('/assets/:name', pageOptions, async (request, reply) => sendFile(request, reply, request.url.split('?', 1)[0] ?? ''));
  app.decorate('consolePage', (request: FastifyRequest, reply: FastifyReply) =>
    files.isPage(request) ? files.send(request, reply, '/') : undefined,
  );
}
