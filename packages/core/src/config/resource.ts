/**
 * A resource is declared once, as a table of fields. Everything else follows from the table: its TypeScript type, its database row, the
 * bodies of POST and PUT, the response, the defaults of a new one, and samples for tests.
 */
import type { Static, TObject, TOptional, TSchema } from 'typebox';
import { Body, Closed, named } from './schema.ts';
import { Type } from './type.ts';

/**
 * Who sets a field, and where it is kept:
 *
 * | access | stored | POST | PUT | response |
 * |---|---|---|---|---|
 * | made | yes | ignored | ignored | yes |
 * | fixed | yes | required | ignored | yes |
 * | required | yes | required | optional | yes |
 * | defaulted | yes | optional, has a default | optional | yes |
 * | chosen | yes | optional, the route picks a value | optional | yes |
 * | joined | in another table | ignored | ignored | yes |
 * | shown | computed for the response only | ignored | ignored | yes |
 */
export type Access = 'made' | 'fixed' | 'required' | 'defaulted' | 'chosen' | 'joined' | 'shown';
export interface Field<A extends Access = Access, S extends TSchema = TSchema, I extends TSchema = TSchema> {
  access: A;
  schema: S;
  /** What a request body takes, where that is more lenient than what is stored. */
  input: I;
  /** `defaulted` checks that it fits the schema. Typed `Static<S>` here, it would cost the compiler seconds for every comparison of fields. */
  fallback?: unknown;
}
type Fields = Record<string, Field>;

const field =
  <A extends Access>(access: A) =>
  <S extends TSchema>(schema: S): Field<A, S, S> => ({ access, schema, input: schema });
export const made = field('made');
export const fixed = field('fixed');
export const required = field('required');
export const chosen = field('chosen');
export const joined = field('joined');
export const shown = field('shown');
export function defaulted<S extends TSchema>(schema: S, fallback: NoInfer<Static<S>>): Field<'defaulted', S, S>;
export function defaulted<S extends TSchema, I extends TSchema>(
  schema: S,
  fallback: NoInfer<Static<S>>,
  input: I,
): Field<'defaulted', S, I>;
export function defaulted(schema: TSchema, fallback: unknown, input: TSchema = schema): Field<'defaulted'> {
  return { access: 'defaulted', schema: { ...schema, default: fallback }, input: { ...input, default: fallback }, fallback };
}

type Stored = 'made' | 'fixed' | 'required' | 'defaulted' | 'chosen';
type Writable = 'required' | 'defaulted' | 'chosen';
type KeysOf<F extends Fields, A extends Access> = { [K in keyof F & string]: F[K]['access'] extends A ? K : never }[keyof F & string];
type Simple<T> = { [K in keyof T]: T[K] };
type Values<F extends Fields, A extends Access> = Simple<{ [K in KeysOf<F, A>]: Static<F[K]['schema']> }>;
/** Booleans are stored as 0 or 1, objects and lists as JSON text. */
type Column<T> = T extends boolean ? 0 | 1 : T extends string | number | null ? T : string;
type Columns<F extends Fields> = { [K in KeysOf<F, Stored>]: Column<Static<F[K]['schema']>> };
type CreateBody<F extends Fields> = TObject<
  { [K in KeysOf<F, 'fixed' | 'required'>]: F[K]['input'] } & { [K in KeysOf<F, 'defaulted' | 'chosen'>]: TOptional<F[K]['input']> }
>;
type UpdateBody<F extends Fields> = TObject<{ [K in KeysOf<F, Writable>]: TOptional<F[K]['input']> }>;

/** Reads a JSON column. `empty` is for a reader that carries on when the text is damaged. */
export type ReadJson = <T>(field: string, text: string, empty: T) => T;

export interface Resource<F extends Fields = Fields> {
  fields: F;
  response: TObject<{ [K in keyof F & string]: F[K]['schema'] }>;
  create: CreateBody<F>;
  update: UpdateBody<F>;
  /** Fields that a PUT ignores. */
  readOnly: readonly string[];
  defaults: Values<F, 'defaulted'>;
  columns: readonly KeysOf<F, Stored>[];
  toColumns<K extends KeysOf<F, Stored>>(values: Pick<Values<F, Stored>, K>): Pick<Columns<F>, K>;
  /** The columns of the fields that were sent: the others stay as they are stored, readable or not. */
  toChangedColumns(values: Partial<Values<F, Stored>>): Partial<Columns<F>>;
  fromRow(row: Columns<F> & Values<F, 'joined'>, read: ReadJson): Values<F, Stored | 'joined'>;
  /** A valid value for tests: defaults, else the schema's example. */
  sample(values?: Partial<Values<F, Stored | 'joined'>>): Values<F, Stored | 'joined'>;
}
// The fields of a declared resource cannot be inferred through its methods: `infer` sees `fields` alone.
type FieldsOf<R> = R extends { fields: infer F extends Fields } ? F : never;
/** The resource as the program holds it: without what is computed for a response. */
export type ValueOf<R> = Values<FieldsOf<R>, Stored | 'joined'>;
/** The database columns that the resource itself has. */
export type RowOf<R> = Simple<Columns<FieldsOf<R>>>;
/** What a client may change. */
export type WritableOf<R> = Values<FieldsOf<R>, Writable>;
/** What a client sends to change it. */
export type UpdateOf<R> = R extends { update: infer U extends TSchema } ? Static<U> : never;

const IN_CREATE: readonly Access[] = ['fixed', 'required', 'defaulted', 'chosen'];
const IN_UPDATE: readonly Access[] = ['required', 'defaulted', 'chosen'];
const STORED: readonly Access[] = ['made', ...IN_CREATE];
const MUST_SEND: readonly Access[] = ['fixed', 'required'];

export function defineResource<F extends Fields>(
  name: string,
  fields: F,
  options: {
    /** Names beyond those of the fields that a body may carry and that are ignored. */
    ignored?: readonly string[];
    examples: { create: object; update: object };
  },
): Resource<F> {
  const entries = Object.entries(fields);
  const withAccess = (access: readonly Access[]) => entries.filter(([, each]) => access.includes(each.access));
  const outside = (access: readonly Access[]) => [
    ...entries.filter(([, each]) => !access.includes(each.access)).map(([key]) => key),
    ...(options.ignored ?? []),
  ];
  const values = (from: readonly (readonly [string, Field])[], value: (each: Field) => unknown) =>
    Object.fromEntries(from.map(([key, each]) => [key, value(each)]));
  const stored = withAccess(STORED);
  const kept = withAccess([...STORED, 'joined']);
  const encoders = new Map(stored.map(([key, { schema }]) => [key, storageOf(key, schema)]));
  const decoders = kept.map(([key, each]): [string, Field, Storage] => [key, each, encoders.get(key) ?? 'plain']);
  const encode = (record: object) =>
    Object.fromEntries(
      Object.entries(record).flatMap(([key, value]) => {
        const storage = encoders.get(key);
        return storage === undefined || value === undefined ? [] : [[key, toColumn(storage, value)]];
      }),
    );
  const resource = {
    fields,
    response: named(name, Closed(values(entries, ({ schema }) => schema) as Record<string, TSchema>)),
    create: named(
      `${name}Create`,
      Body(
        values(withAccess(IN_CREATE), ({ access, input }) => (MUST_SEND.includes(access) ? input : Type.Optional(input))) as never,
        outside(IN_CREATE),
        { examples: [options.examples.create] },
      ),
    ),
    update: named(
      `${name}Update`,
      Body(values(withAccess(IN_UPDATE), ({ input }) => Type.Optional(withoutDefault(input))) as never, outside(IN_UPDATE), {
        examples: [options.examples.update],
      }),
    ),
    readOnly: outside(IN_UPDATE),
    defaults: values(withAccess(['defaulted']), ({ fallback }) => fallback),
    columns: stored.map(([key]) => key),
    toColumns: encode,
    toChangedColumns: encode,
    fromRow: (row: Record<string, unknown>, read: ReadJson) =>
      Object.fromEntries(decoders.map(([key, each, storage]) => [key, fromColumn(key, each, storage, row[key], read)])),
    sample: (given: object = {}) => ({ ...values(kept, sampleOf), ...given }),
  };
  return resource as unknown as Resource<F>; // built from the table at run time; resource.test.ts checks that the types agree
}

/** PUT leaves an omitted field alone, so a default would be wrong there. */
function withoutDefault(schema: TSchema): TSchema {
  const { default: _default, ...rest } = schema as TSchema & { default?: unknown };
  return rest;
}

type Storage = 'flag' | 'json' | 'plain';
function storageOf(key: string, schema: TSchema): Storage {
  const types = typesOf(schema);
  if (types.length === 0) throw new Error(`The schema of ${key} has no type, so no column can hold it.`);
  if (types.includes('boolean')) return 'flag';
  return types.includes('object') || types.includes('array') ? 'json' : 'plain';
}
function typesOf(schema: TSchema): string[] {
  const { type } = schema as { type?: string | string[] };
  return [type ?? []].flat();
}
function toColumn(storage: Storage, value: unknown): unknown {
  if (value === null || storage === 'plain') return value;
  return storage === 'flag' ? (value === true ? 1 : 0) : JSON.stringify(value);
}
function fromColumn(key: string, each: Field, storage: Storage, value: unknown, read: ReadJson): unknown {
  if (value === null || storage === 'plain') return value;
  return storage === 'flag' ? value === 1 : read(key, value as string, emptyOf(each));
}
function emptyOf({ schema, fallback }: Field): unknown {
  if (fallback !== undefined) return fallback;
  const types = typesOf(schema);
  if (types.includes('null')) return null;
  return types.includes('array') ? [] : {};
}

function sampleOf({ schema, fallback }: Field): unknown {
  if (fallback !== undefined) return JSON.parse(JSON.stringify(fallback));
  const { examples, enum: members, minimum = 0 } = schema as { examples?: unknown[]; enum?: unknown[]; minimum?: number };
  if (examples !== undefined) return JSON.parse(JSON.stringify(examples[0]));
  if (members !== undefined) return members[0];
  const types = typesOf(schema);
  if (types.includes('null')) return null;
  const [type] = types;
  return { string: 'text', integer: minimum, number: minimum, boolean: false, array: [], object: {} }[type ?? 'object'];
}
