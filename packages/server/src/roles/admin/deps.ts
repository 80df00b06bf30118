import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, RawServerDefault } from 'fastify';
import type { Settings } from '../../config.ts';
import type { OpenApiPaths } from '../../http/openapi.ts';
import type { Operations } from '../../operations/operations.ts';
import type { SharedLimits } from '../../rate-limits/shared-limits.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cipher } from '../../secrets/cipher.ts';
import type { Db, UserRole } from '../../stores/config/schema.ts';
import type { Write } from './write.ts';

export interface AdminDeps {
  db: Db;
  cipher: Cipher;
  /** SECRET_KEY, from the environment or DATA_DIR. Signs access and challenge tokens. */
  secretKey: string;
  clock: Clock;
  logger: FastifyBaseLogger;
  settings: Pick<
    Settings,
    | 'ingestUrl'
    | 'ingestPort'
    | 'baseUrl'
    | 'allowedHosts'
    | 'allowPrivateDestinations'
    | 'accessTokenTtlMs'
    | 'refreshTokenTtlMs'
    | 'challengeTokenTtlMs'
    | 'adminRateLimit'
    | 'loginRateLimit'
    | 'trustProxy'
    | 'mode'
    | 'localLogin'
    | 'oidcIssuer'
    | 'oidcClientId'
    | 'oidcClientSecret'
    | 'oidcRoleClaim'
    | 'oidcRoleMap'
    | 'smtpUrl'
    | 'smtpFrom'
    | 'roles'
    | 'databaseUrl'
    | 'natsUrl'
    | 'eventRetentionMs'
    | 'deadLetterRetentionMs'
    | 'dedupWindowMs'
    | 'traceSample'
    | 'traceSampleAbove'
  >;
  version: string;
  rateLimits: SharedLimits;
  operations: Operations;
  /** Awaited after every write: a process applies its own change before it responds. */
  configChanged(): Promise<void>;
  /** Aborted when connections are about to be cut. */
  closing?: AbortSignal;
  /** For tests: throws if a response does not match its documented schema. */
  checkAnswers?: boolean;
}
/** Dependencies of the routes. */
export interface AdminContext extends AdminDeps {
  write: Write;
}

/** The caller, as currently stored in the database. */
export interface Actor {
  id: string;
  org_id: string;
  email: string;
  role: UserRole;
  /** Empty for an API token. */
  session_id: string;
  api_token_id: string | undefined;
  /** The pipelines that an API token is limited to; undefined for all. */
  pipeline_ids: readonly string[] | undefined;
  ip: string;
  user_agent: string | null;
}

export type AdminApp = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>;

export const ROLE_ORDER: readonly UserRole[] = ['viewer', 'editor', 'admin', 'owner'];
export function roleReaches(role: UserRole, least: UserRole): boolean {
  return ROLE_ORDER.indexOf(role) >= ROLE_ORDER.indexOf(least);
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The minimum role; `public` needs no token. */
    role?: UserRole | 'public';
    /** Closed to API tokens: a person must sign in. */
    peopleOnly?: boolean;
    /** Opened by the browser of a person, who sees its errors as a page. */
    forPeople?: boolean;
    /** Error codes beyond those every such route has. */
    errors?: readonly (
      | 'NOT_FOUND'
      | 'CONFLICT'
      | 'DUPLICATE_RESOURCE'
      | 'INVALID_CREDENTIALS'
      | 'INVALID_REFRESH_TOKEN'
      | 'ACCOUNT_LOCKED'
      | 'TOTP_REQUIRED'
      | 'OIDC_FAILED'
      | 'CONNECT_FAILED'
      | 'VALIDATION_ERROR'
      | 'FORBIDDEN'
    )[];
    /** The body contains a client's event: any JSON text is allowed in it, and it is never stored as text. */
    anyJson?: boolean;
    /** Has its own serializer, which takes the answer as the handler returned it. */
    ownSerializer?: boolean;
    /** A missing body means an empty object. */
    optionalBody?: boolean;
    /** Has no audit entry: it issues a token or tries something out. */
    unaudited?: boolean;
    /** Not part of the documented API: HTML pages. */
    undocumented?: boolean;
  }
  interface FastifySchema {
    summary?: string;
    description?: string;
    tags?: readonly string[];
  }
  interface FastifyRequest {
    /** Set on every route but the public ones. */
    user: Actor;
  }
  interface FastifyInstance {
    /** Every documented route, as registered. */
    routeTable: RouteEntry[];
    addToOpenApi(paths: OpenApiPaths): void;
    /** Serves the console's page if a browser navigates to a path without a route. */
    consolePage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | undefined;
  }
}
export interface RouteEntry {
  method: string;
  /** In Fastify's notation: `/v1/admin/pipelines/:id`. */
  url: string;
  role: UserRole | 'public';
  config: import('fastify').FastifyContextConfig;
  schema: import('fastify').FastifySchema;
}
