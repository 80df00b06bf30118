/** Replaces every reference to a component of the document by the component, for a page that shows each operation whole. */
export function referenceResolver(document: object): <T extends object>(part: T) => T {
  const { schemas = {} } = (document as { components?: { schemas?: Record<string, unknown> } }).components ?? {};
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, anyOf, ...rest } = value as { $ref?: string; anyOf?: unknown[] };
    const siblings = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, walk(part)]));
    if ($ref !== undefined) return { ...(walk(schemas[$ref.slice('#/components/schemas/'.length)]) as object), ...siblings };
    if (anyOf === undefined) return siblings;
    const [only, ...others] = anyOf.filter((choice) => (choice as { type?: unknown }).type !== 'null').map(walk);
    // A nullable component is shown as the component.
    return others.length === 0 && anyOf.length === 2 ? nullable(only as object, siblings) : { anyOf: walk(anyOf), ...siblings };
  };
  return <T extends object>(part: T) => walk(part) as T;
}

function nullable(schema: { type?: string }, siblings: object): object {
  return { ...schema, type: [schema.type ?? 'object', 'null'], ...siblings };
}
