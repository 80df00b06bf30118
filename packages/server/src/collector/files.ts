/**
 * `/c/{pipeline_key}/{script_filename}` serves the newest build; `/c/{pipeline_key}/{version_hash}/{script_filename}` serves that build
 * permanently. A disabled pipeline keeps its script: pages keep working, and only their events are rejected.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { chooseEncoding } from '../http/encodings.ts';
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../http/errors.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { BuiltFile } from '../stores/config/collector-builds.ts';
import { openPublished, type PublishedDeps } from './published.ts';

const PREFIX = '/c/';
// The path is not decoded: none of our names needs it.
const ADDRESS = /^\/c\/([\w-]+)\/(?:([0-9a-f]{16})\/)?([\w.-]+)$/;
const SHORT = 'public, max-age=60';
const FOR_GOOD = 'public, max-age=31536000, immutable';
/** Sent on every response: pages of any origin load these scripts, and with integrity also through CORS. */
const COMMON = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
};

/** The same for an unknown key, a wrong name and a collector that was never built: what a person who opens the address can check. */
const NO_COLLECTOR = 'There is no collector at this address: check the pipeline key, the file name, and that the collector was built.';

export interface CollectorFiles {
  /** Returns true if the path is a collector file: the request is or will be answered. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  stop(): void;
}

export function createCollectorFiles(deps: PublishedDeps & { snapshots: SnapshotSource }): CollectorFiles {
  const published = openPublished(deps);

  async function serve(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const [, key, hash, name] = ADDRESS.exec(path) ?? [];
    // The keys are in memory, so guessing keys costs no query.
    const pipeline = key === undefined ? undefined : deps.snapshots.current().pipelinesByKey.get(key)?.pipeline;
    if (pipeline === undefined) return refuse(req, res, 'not_found', {}, NO_COLLECTOR);
    const isWanted = (file: BuiltFile) => file.script_filename === name && (hash === undefined || file.version_hash === hash);
    const file = (await published.files(pipeline.id)).find(isWanted);
    if (file === undefined) return refuse(req, res, 'not_found', {}, NO_COLLECTOR);
    const headers = {
      ...COMMON,
      'cache-control': hash === undefined ? SHORT : FOR_GOOD,
      // Weak, because it identifies the script in every encoding.
      etag: `W/"${file.version_hash}"`,
      vary: 'Accept-Encoding',
    };
    if (hasAlready(req.headers['if-none-match'], file.version_hash)) {
      res.writeHead(304, headers).end();
      return;
    }
    const encoding = chooseEncoding(req.headers['accept-encoding']);
    const bytes = await (await published.script(file.id))?.in(encoding);
    if (bytes === undefined) return refuse(req, res, 'not_found', {}, NO_COLLECTOR);
    res.writeHead(200, {
      ...headers,
      'content-type': 'application/javascript; charset=utf-8',
      'content-length': bytes.length,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    });
    res.end(req.method === 'HEAD' ? undefined : bytes);
  }

  return {
    handle(req, res) {
      const url = req.url ?? '';
      if (!url.startsWith(PREFIX)) return false;
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        refuse(req, res, 'method_not_allowed', { allow: 'GET, HEAD' });
        return true;
      }
      const mark = url.indexOf('?');
      serve(req, res, mark === -1 ? url : url.slice(0, mark)).catch((error: unknown) => {
        deps.logger.error({ err: error }, 'collector file not served');
        if (res.headersSent) res.destroy();
        else refuse(req, res, 'overloaded', { 'retry-after': '2' }, 'The file cannot be read now: retry later.');
      });
      return true;
    },
    stop: published.stop,
  };
}

function hasAlready(tags: string | undefined, hash: string): boolean {
  return tags?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === `"${hash}"`) ?? false;
}

function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  code: CollectionErrorCode,
  headers: Record<string, string> = {},
  message: string = COLLECTION_ERRORS[code].message,
): void {
  const body = JSON.stringify({ error: code, message });
  res.writeHead(COLLECTION_ERRORS[code].status, {
    ...COMMON,
    // A missing file may exist a second later.
    'cache-control': 'no-store',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}
