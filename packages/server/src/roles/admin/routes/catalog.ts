import { CATEGORIES, type CatalogListEntry, catalogEntry, loadVendor, searchVendors } from '@firsthand/catalog/index.ts';
import { AnyObject, Closed, Nullable, named, OneOf } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { CONSENT_CATEGORIES, GROUPS, ROW_TYPES, VALUE_TYPES, type VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { ApiError } from '../../../http/errors.ts';
import { CanonicalEventSchema } from '../canonical-event-schema.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { checkConfig, installedConfig } from '../integration-config.ts';
import { Install, TemplateAndRevision, VendorRequestSchema } from '../integration-schema.ts';
import { sampleRequests } from '../sample-requests.ts';
import { initialSetup, writeTemplate } from '../template-writes.ts';

const tags = ['Integration catalog'];
const COLUMN = {
  key: Type.String({ description: 'Name of the field in `config`.' }),
  label: Type.String(),
  type: OneOf(VALUE_TYPES, {
    description:
      'What `config` takes here. `string`, `secret` and `select`: a text; with `rows`, a list or its JSON text. `boolean` and `number`: such a value, or its text. Any field takes a text with `{{pipeline_param.KEY}}`.',
  }),
  required: Type.Boolean({ description: 'Of a column: whether every row needs it.' }),
  placeholder: Type.String({ description: 'A value that passes validation, as text; JSON text with `rows`.' }),
  help_text: Type.String(),
  options: Type.Optional(Type.Array(Type.String(), { description: 'The choices of a `select` field.' })),
  default: Type.Optional(Type.Unknown()),
  multiline: Type.Optional(Type.Boolean({ description: 'True: a text of several lines, such as a private key or a template.' })),
};
const ConfigField = named(
  'CatalogConfigField',
  Closed({
    ...COLUMN,
    rows: Type.Optional(
      OneOf(ROW_TYPES, {
        description:
          'Set if `config` takes a list here, or the JSON text of that list. `table`: its rows are objects with the keys of `columns`, such as `[{"event": "Order Completed", "conversion_action_id": "123"}]`. `list`: its entries are values, such as `["a", "b"]`.',
      }),
    ),
    columns: Type.Optional(
      Type.Array(named('CatalogConfigColumn', Closed(COLUMN)), {
        description:
          'Of `table`: the keys that each row may have, and what stands under each. Of `list`: one, which describes every entry; its `key` is not written. Columns may be secrets.',
      }),
    ),
    max_rows: Type.Optional(Type.Integer({ description: 'The most rows of a `table`, or entries of a `list`.' })),
  }),
);
const VARIANT = { key: Type.String(), name: Type.String(), description: Type.String() };
const ListedVariant = named('CatalogListedVariant', Closed(VARIANT));
const Variant = named(
  'CatalogVariant',
  Closed({ ...VARIANT, default_config: AnyObject({ description: 'The mapping that an install starts with.' }) }),
);
const VENDOR = {
  key: Type.String({ description: 'Identifies the vendor in paths and in `vendor` fields.', examples: ['google_analytics_4'] }),
  name: Type.String(),
  description: Type.String(),
  category: OneOf(CATEGORIES),
  group: OneOf(GROUPS, { description: 'A finer category.' }),
  status: OneOf(['ga', 'beta']),
  website: Type.String({ description: "The vendor's API documentation." }),
  setup_steps: Type.Array(Type.String(), { description: "What to do in the vendor's interface before installing, in order." }),
  see_it: Nullable(Type.String({ description: "Where in the vendor's interface an event shows after it was sent." })),
  test_mode: Nullable(
    named(
      'CatalogTestMode',
      Closed({
        field: Type.String({ description: 'The config field that switches the test mode on.' }),
        value: Type.Optional(Type.Unknown({ description: "Its value. Absent: a code from the vendor's interface." })),
        effect: Type.String({ description: 'What the vendor does with such an event.' }),
      }),
    ),
  ),
  default_consent_category: Nullable(
    OneOf(CONSENT_CATEGORIES, { description: 'The consent category that an install form should propose.' }),
  ),
  docs: named(
    'CatalogDocs',
    Closed({
      url: Type.String({ description: "The vendor's API documentation." }),
      api_version: Nullable(Type.String({ description: 'The API version that the definition was written for.' })),
      checked: Nullable(Type.String({ description: 'The day on which the documentation was read.', examples: ['2026-05-01'] })),
      notes: Type.Array(Type.String(), { description: 'Decisions and limits to know.' }),
    }),
  ),
  connect: Nullable(
    named(
      'CatalogConnect',
      Closed({
        provider: Type.String({ description: 'Where the person signs in.', examples: ['Google'] }),
        scopes: Type.Array(Type.String(), { description: 'What the person is asked to allow.' }),
      }),
    ),
  ),
  config_fields: Type.Array(ConfigField),
};
const ListedVendor = named('CatalogListedVendor', Closed({ ...VENDOR, variants: Type.Array(ListedVariant) }));
const FullVendor = named(
  'CatalogVendor',
  Closed({
    ...VENDOR,
    variants: Type.Array(Variant),
    sample_requests: Type.Array(
      named('SampleRequest', Closed({ event: CanonicalEventSchema, requests: Type.Array(VendorRequestSchema) })),
      {
        description: 'What the vendor would receive for sample events with the default variant.',
      },
    ),
  }),
);
export const VendorParams = Type.Object({ vendor: Type.String() });

export function catalogRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/integration-catalog',
    {
      config: { role: 'viewer', ownSerializer: true },
      schema: {
        summary: 'List the vendors',
        description: 'Without the mappings of their variants: read one vendor for these.',
        tags,
        querystring: Type.Object({
          search: Type.Optional(Type.String({ description: 'Part of the name or description, in any case.' })),
          category: Type.Optional(OneOf(CATEGORIES)),
          status: Type.Optional(OneOf(['ga', 'beta'])),
        }),
        response: {
          200: named(
            'CatalogVendorList',
            Closed({ vendors: Type.Array(ListedVendor), total: Type.Integer(), categories: Type.Array(OneOf(CATEGORIES)) }),
          ),
        },
      },
    },
    async ({ query }, reply) => {
      const vendors = await searchVendors(query);
      const serialise = listBytes as unknown as (answer: unknown) => string; // Fastify sends bytes too, but its type knows only text
      void reply.type('application/json; charset=utf-8').serializer(serialise);
      return { vendors, total: vendors.length, categories: [...CATEGORIES] };
    },
  );

  app.get(
    '/integration-catalog/:vendor',
    { config: { role: 'viewer' }, schema: { summary: 'Read a vendor', tags, params: VendorParams, response: { 200: FullVendor } } },
    async ({ params }) => withSamples(await requireEntry(params.vendor)),
  );

  app.post(
    '/integration-catalog/:vendor/install',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Install a vendor',
        description:
          "Creates a template and its revision 1 from the variant's defaults, with your config merged over them: objects recursively, lists replaced. Steps of version 1 replace the variant's whole mapping.",
        tags,
        params: VendorParams,
        body: Install,
        response: { 201: TemplateAndRevision },
      },
    },
    async ({ params, body, user }, reply) => {
      const vendor = await requireEntry(params.vendor);
      const { variant, config } = installedConfig(vendor, body);
      const mode = body.delivery_mode ?? 'server_side';
      await checkConfig(context, vendor, config, mode);
      const created = await writeTemplate(context, user, 'template.installed', {
        vendor,
        config,
        delivery_mode: mode,
        name: body.name,
        description: body.description ?? '',
        catalog: { vendor: vendor.key, variant },
        change_summary: initialSetup(vendor, variant),
      });
      return reply.code(201).send(created);
    },
  );
}

export async function requireEntry(key: string) {
  const vendor = await loadVendor(key);
  if (vendor === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such vendor in the catalog.' });
  return vendor;
}
/** The catalog is part of the program and never changes, so samples are built once. */
const samples = new Map<string, ReturnType<typeof sampleRequests>>();
function withSamples(vendor: VendorDefinition) {
  let sample_requests = samples.get(vendor.key);
  if (sample_requests === undefined) samples.set(vendor.key, (sample_requests = sampleRequests(vendor)));
  return { ...catalogEntry(vendor), sample_requests };
}
/** The bytes of recent lists. Most requests ask for one of a few selections. */
const lists = new Map<string, Buffer>();
const MAX_LISTS = 20;
function listBytes(answer: { vendors: CatalogListEntry[]; total: number; categories: string[] }): Buffer {
  const name = answer.vendors.map(({ key }) => key).join();
  let bytes = lists.get(name);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(answer));
    if (lists.size >= MAX_LISTS) lists.delete(lists.keys().next().value ?? '');
    lists.set(name, bytes);
  }
  return bytes;
}
