import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { testCase } from './event-case.ts';
import { integration } from './integration.ts';
import { pipeline } from './pipeline.ts';
import {
  chosen,
  defaulted,
  defineResource,
  fixed,
  joined,
  made,
  type RowOf,
  required,
  shown,
  type ValueOf,
  type WritableOf,
} from './resource.ts';
import { revision } from './revision.ts';
import { Nullable } from './schema.ts';
import { template } from './template.ts';
import { transformation } from './transformation.ts';
import { Type } from './type.ts';
import { webhookSource } from './webhook-source.ts';

const box = defineResource(
  'Box',
  {
    id: made(Type.String({ examples: ['box_1'] })),
    owner: fixed(Type.String()),
    label: required(Type.String()),
    open: defaulted(Type.Boolean(), true),
    tags: defaulted(Type.Array(Type.String()), []),
    lid: defaulted(Nullable(Type.Object({ colour: Type.String() })), null),
    shelf: chosen(Type.Integer({ minimum: 1 })),
    room: joined(Type.String()),
    weight: shown(Type.Number()),
  },
  { ignored: ['secret'], examples: { create: { owner: 'a', label: 'b' }, update: { label: 'c' } } },
);
const fail = () => {
  throw new Error('damaged');
};

describe('a resource declared once', () => {
  test('has a type, a row and writable fields that agree', () => {
    type Lid = { colour: string } | null;
    expectTypeOf<ValueOf<typeof box>>().toEqualTypeOf<{
      id: string;
      owner: string;
      label: string;
      open: boolean;
      tags: string[];
      lid: Lid;
      shelf: number;
      room: string;
    }>();
    expectTypeOf<RowOf<typeof box>>().toEqualTypeOf<{
      id: string;
      owner: string;
      label: string;
      open: 0 | 1;
      tags: string;
      lid: string | null;
      shelf: number;
    }>();
    expectTypeOf<WritableOf<typeof box>>().toEqualTypeOf<{ label: string; open: boolean; tags: string[]; lid: Lid; shelf: number }>();
    expectTypeOf<Static<typeof box.create>>().toExtend<{ owner: string; label: string; open?: boolean; shelf?: number }>();
    expectTypeOf<Static<typeof box.update>>().toExtend<Partial<WritableOf<typeof box>>>();
    expectTypeOf<Static<typeof box.response>>().toExtend<ValueOf<typeof box> & { weight: number }>();
    expectTypeOf(box.defaults).toEqualTypeOf<{ open: boolean; tags: string[]; lid: Lid }>();
  });

  test('accepts in bodies the fields that their access allows, and ignores the others', () => {
    const parts = (schema: TSchema) => {
      const { properties, required: needed = [], ...rest } = schema as unknown as { properties: object; required?: string[] };
      return { fields: Object.keys(properties), needed, ignored: (rest as { 'x-read-only'?: string[] })['x-read-only'] };
    };
    expect(parts(box.create)).toEqual({
      fields: ['owner', 'label', 'open', 'tags', 'lid', 'shelf'],
      needed: ['owner', 'label'],
      ignored: ['id', 'room', 'weight', 'secret'],
    });
    expect(parts(box.update)).toEqual({
      fields: ['label', 'open', 'tags', 'lid', 'shelf'],
      needed: [],
      ignored: ['id', 'owner', 'room', 'weight', 'secret'],
    });
    expect(JSON.stringify(box.update), 'PUT leaves an omitted field alone').not.toContain('"default"');
  });

  test('is stored as flags, JSON text and plain columns, and reads back the same', () => {
    const value = { ...box.sample({ open: false, tags: ['a'], lid: { colour: 'red' } }), room: 'cellar' };
    const columns = box.toColumns(value);
    expect(columns).toEqual({ id: 'box_1', owner: 'text', label: 'text', open: 0, tags: '["a"]', lid: '{"colour":"red"}', shelf: 1 });
    expect(box.columns).toEqual(Object.keys(columns));
    const row = { ...columns, room: 'cellar', row_version: 3 };
    expect(
      box.fromRow(row, (_field, text) => JSON.parse(text)),
      'columns of others stay behind',
    ).toEqual(value);
    expect(box.toChangedColumns({ lid: null, open: true })).toEqual({ lid: null, open: 1 });
  });

  test('lets the reader decide about damaged JSON, and offers the default', () => {
    const row = { ...box.toColumns(box.sample()), tags: 'damaged', room: '' };
    expect(() => box.fromRow(row, fail)).toThrow('damaged');
    expect(box.fromRow(row, (_field, _text, empty) => empty).tags).toEqual([]);
  });

  test('needs a type in every stored schema', () => {
    const fields = { id: made(Type.Unknown()) };
    expect(() => defineResource('Bad', fields, { examples: { create: {}, update: {} } })).toThrow('The schema of id has no type');
  });
});

describe.each(
  Object.entries({ integration, pipeline, revision, template, testCase, transformation, webhookSource }),
)('%s', (_name, resource) => {
  // The module is CommonJS: its function is the namespace's default in one loader and its own in another.
  const plugin = formats as unknown as ((ajv: Ajv) => Ajv) & { default?: (ajv: Ajv) => Ajv };
  const ajv = (plugin.default ?? plugin)(new Ajv({ strict: false }));
  const fits = (schema: TSchema, value: unknown) => {
    const validate = ajv.compile(schema);
    return validate(value) ? [] : validate.errors;
  };
  test('has defaults, samples and examples that fit its own schemas', () => {
    expect(fits(resource.update, resource.defaults)).toEqual([]);
    const { properties } = resource.response;
    for (const [field, value] of Object.entries(resource.sample()))
      expect(fits(properties[field as keyof typeof properties], value), field).toEqual([]);
    for (const schema of [resource.create, resource.update])
      for (const example of (schema as { examples?: unknown[] }).examples ?? []) expect(fits(schema, example)).toEqual([]);
  });
});
