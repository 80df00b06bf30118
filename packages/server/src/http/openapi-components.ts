/** Moves named schemas (`x-component`) to `components.schemas` and leaves references, so that generated clients get one type each. */

type Node = Record<string, unknown>;

export function extractComponents(paths: Node): { paths: Node; schemas: Record<string, Node> } {
  const schemas: Record<string, Node> = {};
  const texts = new Map<string, string>();
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const { 'x-component': name, ...node } = value as Node;
    const inner = Object.fromEntries(Object.entries(node).map(([key, part]) => [key, key === 'examples' ? part : walk(part)]));
    return typeof name === 'string' ? refer(name, inner) : inner;
  };

  function refer(name: string, { default: fallback, ...schema }: Node): Node {
    const { nullable, schema: plain } = withoutNull(schema);
    const text = JSON.stringify(plain);
    const known = texts.get(name);
    if (known !== undefined && known !== text) throw new Error(`Two different schemas are named ${name}.`);
    texts.set(name, text);
    schemas[name] = plain;
    const reference = { $ref: `#/components/schemas/${name}` };
    const kept = fallback === undefined ? {} : { default: fallback };
    return nullable ? { anyOf: [reference, { type: 'null' }], ...kept } : { ...reference, ...kept };
  }
  const walked = walk(paths) as Node;
  return { paths: walked, schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function withoutNull(schema: Node): { nullable: boolean; schema: Node } {
  const { type, enum: members } = schema;
  if (!Array.isArray(type) || !type.includes('null')) return { nullable: false, schema };
  const [first, ...others] = type.filter((each) => each !== 'null');
  return {
    nullable: true,
    schema: {
      ...schema,
      type: others.length === 0 ? first : [first, ...others],
      ...(Array.isArray(members) ? { enum: members.filter((member) => member !== null) } : {}),
    },
  };
}
