/** The collector's files in the OpenAPI document. */
import { COLLECTION_ERRORS, type CollectionErrorCode } from '../http/errors.ts';
import type { OpenApiPaths } from '../http/openapi.ts';

const refusal = (code: CollectionErrorCode) => ({
  description: COLLECTION_ERRORS[code].message,
  content: { 'application/json': { example: { error: code, message: COLLECTION_ERRORS[code].message } } },
});
const parameter = (name: string, example: string) => ({ name, in: 'path', required: true, schema: { type: 'string' }, example });
const HASH = parameter('version_hash', '3f1c9a4be07d5a12');

function file(operationId: string, summary: string, caching: string, parameters: object[]) {
  return {
    get: {
      operationId,
      tags: ['Collection'],
      summary,
      description: 'The script that a page loads. It carries the configuration of the pipeline.',
      security: [],
      parameters: [parameter('pipeline_key', 'pk_…'), ...parameters, parameter('script_filename', 'd.js')],
      responses: {
        200: {
          description: `The script; \`Cache-Control: ${caching}\`.`,
          content: { 'application/javascript': { schema: { type: 'string' } } },
        },
        304: { description: 'The copy of the client is up to date.' },
        404: refusal('not_found'),
        405: refusal('method_not_allowed'),
        503: refusal('overloaded'),
      },
    },
  };
}

export const collectorPaths: OpenApiPaths = {
  '/c/{pipeline_key}/{script_filename}': file('getCollectorFile', 'Get the newest build of the collector', 'public, max-age=60', []),
  '/c/{pipeline_key}/{version_hash}/{script_filename}': file(
    'getPinnedCollectorFile',
    'Get one build of the collector',
    'public, max-age=31536000, immutable',
    [HASH],
  ),
};
