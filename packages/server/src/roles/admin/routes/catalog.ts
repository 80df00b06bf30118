import { CATEGORIES, catalogEntry, findVendor, searchVendors } from '@firsthand/catalog/index.ts';
import { AnyObject, OneOf } from '@firsthand/core/config/schema.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { FIELD_TYPES, type VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { mergeConfig } from '@firsthand/core/vendor/merge.ts';
import { Type } from 'typebox';
import { ApiError, invalid } from '../../../http/errors.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { checkConfig, withoutMasks } from '../integration-config.ts';
import { Install, TemplateAndRevision } from '../integration-schema.ts';
import { createTemplate, initialSetup } from '../template-writes.ts';

const tags = ['Integration catalog'];
const VendorSchema = Type.Object({
  key: Type.String(),
  name: Type.String(),
  description: Type.String(),
  category: OneOf(CATEGORIES),
  status: OneOf(['ga', 'beta']),
  website: Type.String(),
  config_fields: Type.Array(
    Type.Object({
      key: Type.String(),
      label: Type.String(),
      type: OneOf(FIELD_TYPES),
      required: Type.Boolean(),
      placeholder: Type.String(),
      help_text: Type.String(),
      options: Type.Optional(Type.Array(Type.String())),
      default: Type.Optional(Type.Unknown()),
    }),
  ),
  variants: Type.Array(Type.Object({ key: Type.String(), name: Type.String(), description: Type.String(), default_config: AnyObject() })),
});
const VendorParams = Type.Object({ vendor: Type.String() });

export function catalogRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/integration-catalog',
    {
      config: { role: 'viewer' },
      schema: {
        summary: 'List the vendors',
        tags,
        querystring: Type.Object({
          search: Type.Optional(Type.String({ description: 'In name or description, whatever the case.' })),
          category: Type.Optional(OneOf(CATEGORIES)),
          status: Type.Optional(OneOf(['ga', 'beta'])),
        }),
        response: { 200: Type.Object({ vendors: Type.Array(VendorSchema), total: Type.Integer(), categories: Type.Array(Type.String()) }) },
      },
    },
    async ({ query }, reply) => {
      const vendors = searchVendors(query).map(asVendor);
      // Fastify sends bytes as they are; its types only know of text.
      void reply.type('application/json; charset=utf-8').serializer(listBytes as unknown as (answer: unknown) => string);
      return { vendors, total: vendors.length, categories: [...CATEGORIES] };
    },
  );

  app.get(
    '/integration-catalog/:vendor',
    { config: { role: 'viewer' }, schema: { summary: 'Read a vendor', tags, params: VendorParams, response: { 200: VendorSchema } } },
    async ({ params }) => asVendor(requireEntry(params.vendor)),
  );

  app.post(
    '/integration-catalog/:vendor/install',
    {
      config: { role: 'editor' },
      schema: {
        summary: 'Install a vendor',
        description: "Makes a template and its revision 1 from the variant's defaults with your config merged over them.",
        tags,
        params: VendorParams,
        body: Install,
        response: { 201: TemplateAndRevision },
      },
    },
    async ({ params, body, user }, reply) => {
      const vendor = requireEntry(params.vendor);
      const variant = vendor.variants.find(({ key }) => key === (body.variant ?? 'default'));
      if (variant === undefined) throw invalid('variant', `must be one of ${vendor.variants.map(({ key }) => key).join(', ')}`);
      const merged = mergeConfig(variant.default_config, withoutMasks(vendor, (body.config ?? {}) as JsonObject));
      const config = (isObject(merged) ? merged : {}) as JsonObject;
      const mode = body.delivery_mode ?? 'server_side';
      checkConfig(context, vendor, config, mode);
      const created = await context.write(user, 'template.installed', async (tx, change) => {
        const made = await createTemplate(context, tx, user, change, {
          vendor,
          config,
          delivery_mode: mode,
          name: body.name,
          description: body.description ?? '',
          catalog: { vendor: vendor.key, variant: variant.key },
          change_summary: initialSetup(vendor, variant.key),
        });
        change.audit({ id: made.template.id, after: { ...made.template, config: made.revision.config } });
        return made;
      });
      return reply.code(201).send(created);
    },
  );
}

function requireEntry(key: string) {
  const vendor = findVendor(key);
  if (vendor === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such vendor in the catalog.' });
  return vendor;
}
/** Typed as the schema says: a category is one of the six. */
type Vendor = ReturnType<typeof catalogEntry> & Pick<VendorDefinition, 'category'>;
/** The catalog is part of the program, and large: what is shown of a vendor is made once. */
const shown = new Map<string, Vendor>();
function asVendor(vendor: VendorDefinition): Vendor {
  let entry = shown.get(vendor.key);
  if (entry === undefined) shown.set(vendor.key, (entry = { ...catalogEntry(vendor), category: vendor.category }));
  return entry;
}
/** Every search gives some selection of the same vendors; the few that are asked for again and again are kept whole. */
const lists = new Map<string, Buffer>();
const MOST_LISTS = 20;
function listBytes(answer: { vendors: Vendor[]; total: number; categories: string[] }): Buffer {
  const name = answer.vendors.map(({ key }) => key).join();
  let bytes = lists.get(name);
  if (bytes === undefined) {
    bytes = Buffer.from(JSON.stringify(answer));
    if (lists.size >= MOST_LISTS) lists.delete(lists.keys().next().value!);
    lists.set(name, bytes);
  }
  return bytes;
}
