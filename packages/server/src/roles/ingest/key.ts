import type { IncomingMessage } from 'node:http';
import type { CompiledPipeline, Snapshot } from '../../snapshot/types.ts';

/** The pipeline key of a request's header or query; undefined where only the body can name it. */
export function keyOf(req: IncomingMessage, query: string | undefined): string | undefined {
  const { authorization } = req.headers;
  if (authorization !== undefined) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7).trim();
    const [scheme = '', value = ''] = authorization.trim().split(/\s+/, 2);
    if (scheme.toLowerCase() === 'bearer') return value;
    if (scheme.toLowerCase() === 'basic') return Buffer.from(value, 'base64').toString('latin1').split(':', 1)[0]!;
    return '';
  }
  if (query?.includes('writeKey=')) return new URLSearchParams(query).get('writeKey') ?? undefined;
  return undefined;
}

export function pipelineOf(snapshot: Snapshot, key: string): CompiledPipeline | undefined {
  return key === '' ? undefined : snapshot.pipelinesByKey.get(key);
}
