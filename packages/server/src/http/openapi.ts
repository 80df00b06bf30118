/** The OpenAPI 3.1 document, generated from the schemas that validate requests. */
import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { API_ERRORS, type ApiErrorCode } from './errors.ts';
import { extractComponents } from './openapi-components.ts';
import { TAGS } from './openapi-tags.ts';
import { operationIdOf } from './operation-id.ts';

export type OpenApiPaths = Record<string, Record<string, object>>;

interface DocumentedRoute {
  method: string;
  url: string;
  role: string;
  config: FastifyContextConfig;
  schema: FastifySchema;
}
interface ObjectSchema {
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

export function openApiDocument(options: {
  version: string;
  /** The public URL, if configured. */
  baseUrl: string | undefined;
  routes: readonly DocumentedRoute[];
  more: readonly OpenApiPaths[];
}): object {
  const paths: OpenApiPaths = {};
  for (const route of options.routes) {
    if (route.config.undocumented === true) continue;
    const path = openApiPath(route.url);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  for (const extra of options.more) for (const [path, methods] of Object.entries(extra)) paths[path] = { ...paths[path], ...methods };
  const { paths: documented, schemas } = extractComponents(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Firsthand',
      version: options.version,
      description:
        'First-party event collection, processing and delivery. The management API is under `/v1/admin` and takes a bearer access token; the collection endpoints take a pipeline key.',
      contact: { name: 'Firsthand' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl ?? '/', description: 'This installation.' }],
    tags: tagsOf(paths),
    paths: documented,
    components: {
      securitySchemes: {
        access_token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'From `POST /v1/admin/auth/login`.' },
        pipeline_key: { type: 'http', scheme: 'bearer', description: 'A pipeline key, `pk_…`.' },
        pipeline_key_basic: { type: 'http', scheme: 'basic', description: 'A pipeline key as the user name, no password.' },
        pipeline_key_query: { type: 'apiKey', in: 'query', name: 'writeKey', description: 'A pipeline key.' },
      },
      schemas: { Error: ERROR_SCHEMA, ...schemas },
    },
  };
}

/** Descriptions of all tags in use. A tag without a description is a bug that the tests report. */
function tagsOf(paths: OpenApiPaths): { name: string; description: string }[] {
  const used = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((each) => (each as { tags?: string[] }).tags ?? [])),
  );
  return Object.entries(TAGS).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []));
}

export function openApiPath(url: string): string {
  return url.replace(/:([A-Za-z_]+)/g, '{$1}');
}

function operation(route: DocumentedRoute): object {
  const { schema, role } = route;
  const isPublic = role === 'public';
  const operationId = operationIdOf(route);
  return {
    operationId,
    summary: schema.summary,
    description: [schema.description, access(route)].filter(Boolean).join('\n\n'),
    tags: schema.tags,
    'x-role': role,
    security: isPublic ? [] : [{ access_token: [] }],
    parameters: [
      ...parameters('path', schema.params as ObjectSchema | undefined),
      ...parameters('query', schema.querystring as ObjectSchema | undefined),
      ...parameters('header', schema.headers as ObjectSchema | undefined),
    ],
    ...(schema.body === undefined
      ? {}
      : {
          requestBody: {
            required: route.config.optionalBody !== true,
            content: { 'application/json': { schema: withName(schema.body as object, operationId, 'Request') } },
          },
        }),
    responses: { ...answers(schema, operationId), ...refusals(route) },
  };
}

function access({ role, config }: DocumentedRoute): string {
  if (role === 'public') return 'Needs no token.';
  return `Least role: **${role}**.${config.peopleOnly === true ? ' Not for API tokens: a person signs in.' : ''}`;
}

function parameters(place: 'path' | 'query' | 'header', schema: ObjectSchema | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === 'path' || schema?.required?.includes(name) === true,
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

/**
 * Names an unnamed body after its operation, so that no generated type is anonymous. `Result`, because oapi-codegen calls its own types for
 * Go `…Response`.
 */
function withName(schema: object, operationId: string, kind: 'Request' | 'Result'): object {
  if ('x-component' in schema || !('type' in schema) || schema.type !== 'object') return schema;
  return { ...schema, 'x-component': `${operationId.slice(0, 1).toUpperCase()}${operationId.slice(1)}${kind}` };
}

function answers(schema: FastifySchema, operationId: string): Record<string, object> {
  const documented = schema.response as Record<string, Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(documented).map(([status, body]) => {
      const description = typeof body.description === 'string' ? body.description : (STATUS_WORDS[status] ?? 'Success');
      const type = typeof body['x-content-type'] === 'string' ? body['x-content-type'] : 'application/json';
      return [
        status,
        {
          description,
          headers: REQUEST_ID,
          ...(status === '204' ? {} : { content: { [type]: { schema: withName(body, operationId, 'Result') } } }),
        },
      ];
    }),
  );
}
const STATUS_WORDS: Record<string, string> = { 200: 'Success', 201: 'Created', 202: 'Accepted', 204: 'Success, no content' };
const REQUEST_ID = { 'X-Request-Id': { schema: { type: 'string' }, description: 'Names this request in the logs.' } };
const CHALLENGE = { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } };
const RETRY_AFTER = { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait.' } };

/** Derives the error codes a route can return from its role, body, query and path. */
export function refusalCodes(route: Pick<DocumentedRoute, 'method' | 'role' | 'config' | 'schema'>): ApiErrorCode[] {
  const { method, role, config, schema } = route;
  const codes: ApiErrorCode[] = [...(config.errors ?? []), 'RATE_LIMITED', 'INTERNAL_ERROR', 'UNAVAILABLE'];
  if (role !== 'public') codes.push('INVALID_TOKEN', 'EXPIRED_TOKEN', 'INVALID_PIPELINE_KEY');
  if (role !== 'public' && role !== 'viewer') codes.push('FORBIDDEN');
  if (schema.params !== undefined) codes.push('NOT_FOUND');
  if (schema.body !== undefined) codes.push('MISSING_FIELD');
  // A route without a body of its own refuses what it cannot use.
  const readsBody = schema.body !== undefined || method === 'POST' || method === 'PUT';
  if (readsBody) codes.push('INVALID_JSON', 'PAYLOAD_TOO_LARGE');
  if (readsBody || schema.querystring !== undefined) codes.push('VALIDATION_ERROR');
  return [...new Set(codes)];
}

function refusals(route: DocumentedRoute): Record<string, object> {
  const byStatus = new Map<number, ApiErrorCode[]>();
  for (const code of refusalCodes(route)) {
    const { status } = API_ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${API_ERRORS[code].message}`).join('\n\n'),
        headers: { ...REQUEST_ID, ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...(status === 401 ? CHALLENGE : {}) },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: Object.fromEntries(codes.map((code) => [code, { value: { error: { code, message: API_ERRORS[code].message } } }])),
          },
        },
      },
    ]),
  );
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', enum: Object.keys(API_ERRORS) },
        message: { type: 'string' },
        details: {
          type: 'array',
          maxItems: 20,
          description: 'The faults of the request, with their places.',
          items: {
            type: 'object',
            required: ['field', 'message'],
            properties: {
              field: {
                type: 'string',
                description: 'Path of the fault, with entries of lists by their index; empty for the whole body.',
                examples: ['config.events.Order Completed.mappings[2].source'],
              },
              message: { type: 'string' },
            },
          },
        },
      },
    },
  },
};
