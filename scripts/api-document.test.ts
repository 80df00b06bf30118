import { DEBUG_PATH } from '@firsthand/server/tap/socket.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiDocument, apiDocument, type Media, type Operation, type Schema } from './api-document.ts';

const METHODS = ['get', 'post', 'put', 'delete', 'options', 'head'];
const ROLES = ['public', 'viewer', 'editor', 'admin', 'owner'];

describe('the OpenAPI document', () => {
  let document: ApiDocument;
  let operations: { name: string; path: string; operation: Operation }[];
  beforeAll(async () => {
    document = await apiDocument();
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
    );
  });
  const resolved = (schema: Schema): Schema => {
    const name = schema.$ref?.slice('#/components/schemas/'.length);
    return name === undefined ? schema : ((document.components.schemas[name] as Schema | undefined) ?? {});
  };
  const without = (fault: (operation: Operation, path: string) => boolean) =>
    operations.filter(({ operation, path }) => fault(operation, path)).map(({ name }) => name);

  test('is 3.1, the same each time, and has both sides of the API', async () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(await apiDocument()).toEqual(document);
    const beside = ['/v1/t', '/v1/webhook', '/v1/batch', DEBUG_PATH, '/healthz', '/readyz', '/metrics'];
    for (const path of ['/v1/admin/pipelines', ...beside]) expect(Object.keys(document.paths)).toContain(path);
    expect(
      Object.values(document.paths)
        .flatMap(Object.keys)
        .filter((method) => !METHODS.includes(method)),
    ).toEqual([]);
  });

  test('says of every operation what it is called, what it does and who may call it', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(without(({ operationId }) => !/^[a-z][A-Za-z0-9]*$/.test(operationId ?? ''))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(['login', 'listPipelines', 'createIntegration', 'rotatePipelineSecret']));
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(without(({ summary }) => !summary)).toEqual([]);
    const schemes = Object.keys(document.components.securitySchemes);
    expect(
      without(({ security }) => !Array.isArray(security) || security.flatMap(Object.keys).some((name) => !schemes.includes(name))),
    ).toEqual([]);
    expect(without((operation, path) => path.startsWith('/v1/admin/') && !ROLES.includes(operation['x-role'] ?? ''))).toEqual([]);
  });

  test('leaves the names of inline objects free: openapi-python-client left out Installation, whose process was InstallationProcess too', () => {
    const pascal = (name: string) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const schemas = Object.entries(document.components.schemas as Record<string, Schema>);
    const inline = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([key, property]) => ('properties' in property ? [`${name}${pascal(key)}`] : [])),
    );
    expect(inline.length).toBeGreaterThan(10);
    expect(inline.filter((name) => Object.hasOwn(document.components.schemas, name))).toEqual([]);
  });

  test('has a named component for every JSON object that an operation takes or answers, and describes every tag', () => {
    const inline = (media: Record<string, Media> | undefined) =>
      Object.values(media ?? {}).some(({ schema }) => schema !== undefined && 'properties' in schema);
    expect(without(({ requestBody }) => inline(requestBody?.content))).toEqual([]);
    expect(without(({ responses }) => Object.values(responses).some(({ content }) => inline(content)))).toEqual([]);
    const described = document.tags.map(({ name }) => name);
    expect(without(({ tags }) => tags.some((tag) => !described.includes(tag)))).toEqual([]);
    expect(JSON.stringify(document)).not.toContain('x-component');
  });

  test('has nothing that generators for typed languages refuse', () => {
    const severalTypes: string[] = [];
    const walk = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type } = value as { type?: unknown };
      if (Array.isArray(type) && type.filter((each) => each !== 'null').length > 1) severalTypes.push(place);
      for (const [key, each] of Object.entries(value)) if (key !== 'examples' && key !== 'example') walk(each, `${place}/${key}`);
    };
    walk(document, '');
    // Leave `type` out or write `anyOf`.
    expect(severalTypes).toEqual([]);
    // oapi-codegen names its own types for Go after the operations.
    const reserved = new Set(operations.map(({ operation: { operationId: id } }) => `${id.charAt(0).toUpperCase()}${id.slice(1)}Response`));
    expect(Object.keys(document.components.schemas).filter((name) => reserved.has(name))).toEqual([]);
  });

  test('names every parameter of a path, and gives every body an example', () => {
    const inPath = (path: string) => [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    const declared = ({ parameters = [] }: Operation) =>
      parameters.filter((each) => each.in === 'path' && each.required).map(({ name }) => name);
    expect(without((operation, path) => inPath(path).sort().join() !== declared(operation).sort().join())).toEqual([]);
    const hasExample = ({ requestBody }: Operation) =>
      Object.values(requestBody?.content ?? {}).every(
        ({ schema, example, examples }) => example ?? examples ?? (schema && resolved(schema).examples?.[0]),
      );
    expect(without((operation) => !hasExample(operation))).toEqual([]);
  });

  test('tells every status of the management API, each refusal with an example', () => {
    // The socket answers a handshake, and says what it has to say by closing.
    const admin = (path: string) => path.startsWith('/v1/admin/') && path !== DEBUG_PATH;
    const lacks = (statuses: string[], when: (operation: Operation) => boolean) =>
      without((operation, path) => admin(path) && when(operation) && statuses.some((status) => operation.responses[status] === undefined));
    expect(
      without(({ responses }, path) => !Object.keys(responses).some((status) => (path === DEBUG_PATH ? /^101$/ : /^[23]/).test(status))),
    ).toEqual([]);
    expect(lacks(['429', '500', '503'], () => true)).toEqual([]);
    expect(lacks(['401'], ({ security }) => security.length > 0)).toEqual([]);
    expect(lacks(['403'], (operation) => ['editor', 'admin', 'owner'].includes(operation['x-role'] ?? ''))).toEqual([]);
    expect(lacks(['404'], ({ parameters = [] }) => parameters.some((each) => each.in === 'path'))).toEqual([]);
    expect(lacks(['400', '413', '422'], ({ requestBody }) => requestBody !== undefined)).toEqual([]);
    const exampled = ({ responses }: Operation) =>
      Object.entries(responses).every(
        ([status, { content }]) => status < '400' || Object.values(content ?? {}).every(({ examples }) => examples),
      );
    expect(without((operation, path) => admin(path) && !exampled(operation))).toEqual([]);
  });

  test('holds schemas that compile, and examples that fit theirs', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema({ $id: 'api', components: document.components });
    const faults: string[] = [];
    let checked = 0;
    // Most refusals have the same schema: each different one is compiled once.
    const compiled = new Map<string, ValidateFunction>();
    const check = (place: string, schema: object, examples: unknown[]) => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      for (const example of examples) {
        checked++;
        if (!validate(example)) faults.push(`${place}: ${ajv.errorsText(validate.errors)}`);
      }
    };
    /** Schemas with `examples` at any depth, and media with `example` or named `examples` beside their schema. */
    const walk = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { schema, example, examples } = value as Media;
      if (Array.isArray(examples)) check(place, value, examples);
      else if (schema !== undefined) {
        const named = Object.values(examples ?? {}).map((each: { value: unknown }) => each.value);
        check(place, schema, example === undefined ? named : [example, ...named]);
      }
      for (const [key, each] of Object.entries(value)) if (key !== 'examples' && key !== 'example') walk(each, `${place}/${key}`);
    };
    walk(document.paths, 'paths');
    walk(document.components.schemas, 'schemas');
    expect(faults).toEqual([]);
    expect(checked).toBeGreaterThan(500);
  });
});
