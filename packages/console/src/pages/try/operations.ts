/** The operations of the OpenAPI document, as the page that tries them needs them. */
export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: { enum?: unknown[]; default?: unknown };
}
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  role: string | undefined;
  parameters: Parameter[];
  /** An example of the body; undefined for an operation without one. */
  body: unknown;
}
interface Described {
  operationId?: string;
  summary?: string;
  tags?: string[];
  'x-role'?: string;
  parameters?: unknown[];
  requestBody?: unknown;
}
interface Body {
  content?: Record<string, { example?: unknown; schema?: unknown }>;
}

/** Those of the management API: a signed-in user may call them. */
export function operationsOf(document: unknown): Operation[] {
  const { paths = {} } = document as { paths?: Record<string, Record<string, Described>> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        id: described.operationId ?? `${method} ${path}`,
        method: method.toUpperCase(),
        path,
        summary: described.summary ?? path,
        tag: described.tags?.[0] ?? 'Other',
        role: described['x-role'],
        parameters: (described.parameters ?? [])
          .map((parameter) => resolve<Parameter>(document, parameter))
          .filter((parameter) => parameter.in === 'path' || parameter.in === 'query'),
        body: described.requestBody === undefined ? undefined : exampleOf(document, resolve<Body>(document, described.requestBody)),
      })),
    );
}

function exampleOf(document: unknown, { content = {} }: Body): unknown {
  const [media] = Object.values(content);
  const schema = resolve<{ examples?: unknown[] }>(document, media?.schema ?? {});
  return media?.example ?? schema.examples?.[0] ?? {};
}
/** A `$ref` is replaced by what it points to, in the same document. */
function resolve<T>(document: unknown, node: unknown): T {
  const ref = (node as { $ref?: unknown } | null)?.$ref;
  if (typeof ref !== 'string') return node as T;
  let found = document;
  for (const part of ref.slice(2).split('/')) found = (found as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  return resolve<T>(document, found);
}

/** The address with its parameters filled in. Empty ones are left out. */
export function addressOf({ path, parameters }: Pick<Operation, 'path' | 'parameters'>, values: Readonly<Record<string, string>>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''));
  const query = new URLSearchParams(
    parameters.flatMap(({ name, in: place }) => (place === 'query' && values[name] ? [[name, values[name]]] : [])),
  ).toString();
  return query === '' ? filled : `${filled}?${query}`;
}
