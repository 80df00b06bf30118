import type { CompiledPipeline, Snapshot } from '../../snapshot/types.ts';
import type { CollectionHeaders } from './collection-headers.ts';

const KEY_IN_QUERY = /write[Kk]ey=/;

/** The pipeline key in a request's headers or query; undefined where only the body can name it. */
export function keyOf(headers: CollectionHeaders, query: string | undefined): string | undefined {
  const { authorization } = headers;
  if (authorization !== undefined) {
    if (authorization.startsWith('Bearer ')) return authorization.slice(7).trim();
    const [scheme = '', value = ''] = authorization.trim().split(/\s+/, 2);
    if (scheme.toLowerCase() === 'bearer') return value;
    if (scheme.toLowerCase() === 'basic') return beforeColon(Buffer.from(value, 'base64').toString('latin1'));
    return '';
  }
  // Jitsu's clients: the key, or key and secret.
  const jitsu = headers['x-write-key'];
  if (jitsu !== undefined) return beforeColon(jitsu.trim());
  if (query === undefined || !KEY_IN_QUERY.test(query)) return undefined;
  const parameters = new URLSearchParams(query);
  // The second is Jitsu's.
  const key = parameters.get('writeKey') ?? parameters.get('writekey');
  return key === null ? undefined : beforeColon(key);
}
function beforeColon(text: string): string {
  const colon = text.indexOf(':');
  return colon === -1 ? text : text.slice(0, colon);
}

export function findPipeline(snapshot: Snapshot, key: string): CompiledPipeline | undefined {
  return key === '' ? undefined : snapshot.pipelinesByKey.get(key);
}
