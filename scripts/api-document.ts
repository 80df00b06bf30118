/** The OpenAPI document as the service serves it, without a service: the routes are registered, no store is opened, nothing listens. */

import { readSettings } from '@firsthand/server/config.ts';
import { otherPaths } from '@firsthand/server/openapi-paths.ts';
import { createSharedLimits } from '@firsthand/server/rate-limits/shared-limits.ts';
import { buildAdminApp } from '@firsthand/server/roles/admin/app.ts';
import type { AdminDeps } from '@firsthand/server/roles/admin/deps.ts';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { VERSION } from '@firsthand/server/version.ts';
import pino from 'pino';

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  'x-role'?: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: object }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; headers?: object; content?: Record<string, Media> }>;
}
export interface Schema {
  $ref?: string;
  examples?: unknown[];
  properties?: Record<string, Schema>;
}
export interface Media {
  /** Absent where the content is no JSON. */
  schema?: Schema;
  example?: unknown;
  examples?: object;
}
export interface ApiDocument {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: object; schemas: Record<string, object> };
}

export async function apiDocument(): Promise<ApiDocument> {
  const read = readSettings({});
  if (!read.ok) throw new Error(read.faults.join('\n'));
  // The one request below is for the document itself, which asks neither the database nor the events.
  const nothing = { db: {}, cipher: {}, operations: {} } as unknown as Pick<AdminDeps, 'db' | 'cipher' | 'operations'>;
  const app = buildAdminApp({
    ...nothing,
    secretKey: 'signs nothing',
    clock: systemClock,
    logger: pino({ level: 'silent' }),
    settings: read.settings,
    version: VERSION,
    rateLimits: createSharedLimits({ clock: systemClock }),
    configChanged: async () => {},
  });
  app.addToOpenApi(otherPaths);
  try {
    const answer = await app.inject('/v1/admin/openapi.json');
    if (answer.statusCode !== 200) throw new Error(`The document is not served: ${answer.statusCode} ${answer.body}`);
    return answer.json();
  } finally {
    await app.close();
  }
}
