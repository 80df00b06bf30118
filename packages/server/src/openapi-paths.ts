/** Paths of the OpenAPI document besides the management API's routes. */
import { collectorPaths } from './collector/openapi.ts';
import { healthPaths } from './http/health-openapi.ts';
import type { OpenApiPaths } from './http/openapi.ts';
import { collectionPaths } from './roles/ingest/openapi.ts';
import { debugSocketPaths } from './tap/openapi.ts';

export const otherPaths: OpenApiPaths = {
  ...(collectionPaths as OpenApiPaths),
  ...collectorPaths,
  ...debugSocketPaths,
  ...healthPaths,
};
