/**
 * Serves the built console. Files under `/assets/` have their content's hash in their name and are cached for good; the page
 * itself is not cached. Every address that no route has and that a browser navigates to gets the page, which shows the view
 * of that address. Files are read on first use and kept, with their compressed twins written by the build.
 */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { chooseEncoding } from '../../../http/encodings.ts';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'application/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SUFFIX = { br: '.br', gzip: '.gz' } as const;
/** Styles may be inline because components set style attributes; scripts never are. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export interface ConsoleFiles {
  /** Answers with the file of that path, or returns undefined where the console has none. */
  send(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> | undefined;
  /** Whether a request that no route took is a browser opening a page of the console. */
  isPage(request: FastifyRequest): boolean;
}

export function openConsoleFiles(folder: string): ConsoleFiles {
  const names = new Set(filesOf(folder));
  const kept = new Map<string, Promise<Buffer>>();
  const read = (name: string): Promise<Buffer> => {
    let bytes = kept.get(name);
    if (bytes === undefined) {
      bytes = readFile(join(folder, name));
      kept.set(name, bytes);
      bytes.catch(() => kept.delete(name));
    }
    return bytes;
  };
  return {
    send(request, reply, path) {
      const name = path === '/' ? 'index.html' : path.slice(1);
      if (!names.has(name)) return undefined;
      const wanted = chooseEncoding(request.headers['accept-encoding']);
      const encoding = wanted !== undefined && names.has(name + SUFFIX[wanted]) ? wanted : undefined;
      const file = read(encoding === undefined ? name : name + SUFFIX[encoding]);
      const answer = (bytes: Buffer) =>
        reply
          .code(200)
          .headers({
            'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
            'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
            'content-security-policy': CSP,
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
            vary: 'Accept-Encoding',
            ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
          })
          .send(bytes);
      // An upgrade in place removed the file: the console then loads the new page.
      return file.then(answer, (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return reply.code(404).type('text/plain').send('The file is gone: reload the page.');
      });
    },
    isPage: ({ method, url, headers }) =>
      (method === 'GET' || method === 'HEAD') &&
      !url.startsWith('/v1/') &&
      headers.accept?.includes('text/html') === true &&
      names.has('index.html'),
  };
}

/** Names relative to `folder`; none where the console was never built. */
function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
