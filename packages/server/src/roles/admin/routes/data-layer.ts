import { DataLayerConfigInput, DataLayerConfigSchema } from '@firsthand/core/config/data-layer.ts';
import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Body, Closed, Id, Nullable, named, Timestamp } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { mergeDataLayer, validateDataLayer } from '@firsthand/core/process/compiled.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { type DataLayer, findDataLayer, saveDataLayer } from '../../../stores/config/data-layers.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { ifMatchHeader, requireUnchanged } from '../if-match.ts';

const tags = ['Data layer'];
const DataLayerResponse = named(
  'DataLayer',
  Closed({
    org_id: Id('org'),
    config: DataLayerConfigSchema,
    version: Type.Integer({ description: 'Counts the writes; 0 before the first.' }),
    updated_at: Nullable(Timestamp),
    updated_by: Nullable(Id('usr')),
  }),
);
const DataLayerUpdate = named(
  'DataLayerUpdate',
  Body({ config: DataLayerConfigInput }, ['org_id', 'version', 'updated_at', 'updated_by'], {
    examples: [{ config: { bot_filtering: { action: 'drop' }, pii_rules: { ip: 'truncate' } } }],
  }),
);

export function dataLayerRoutes(app: AdminApp, context: AdminContext): void {
  app.get(
    '/data-layer',
    { config: { role: 'viewer' }, schema: { summary: 'Read the data layer', tags, response: { 200: DataLayerResponse } } },
    async ({ user }) => shown(await findDataLayer(context.db, user.org_id)),
  );

  app.put(
    '/data-layer',
    {
      config: { role: 'admin', errors: ['CONFLICT'] },
      schema: {
        summary: 'Change the data layer',
        description:
          'Each section that is sent is replaced, and its missing keys take their defaults; the other sections stay. With `If-Match: <version>` the change is rejected if somebody else changed the data layer in the meantime.',
        tags,
        headers: ifMatchHeader('The version that was read.', '3'),
        body: DataLayerUpdate,
        response: { 200: DataLayerResponse },
      },
    },
    async ({ body, user, headers }) => {
      const sent = body.config as Partial<DataLayerConfig>;
      const faults = validateDataLayer(sent);
      if (faults.length === 0 && sent.custom_js?.enabled) faults.push(...(await codeFaults(user.org_id, sent.custom_js.code ?? '')));
      if (faults.length > 0)
        throw invalidFields(faults.map(({ field, message }) => ({ field: field === '' ? 'config' : `config.${field}`, message })));
      const saved = await context.write(user, 'data_layer.updated', async (tx, change) => {
        const before = await findDataLayer(tx, user.org_id);
        requireUnchanged(headers['if-match'], before.version, 'The data layer');
        const sections = sectionsOf(sent);
        const unsent = Object.keys(before.config).filter((section) => !Object.hasOwn(sections, section));
        // A change of the session timeout must not replace unreadable privacy rules with none.
        if (!before.readable && unsent.length > 0)
          throw new ApiError('CONFLICT', {
            message: `The stored data layer cannot be read: send every section, also ${unsent.join(', ')}.`,
          });
        const config = { ...before.config, ...sections };
        const after = await saveDataLayer(tx, user.org_id, config, before.version + 1, user.id, change.stamp);
        change.audit({ id: user.org_id, before: before.config, after: after.config });
        return after;
      });
      return shown(saved);
    },
  );

  async function codeFaults(orgId: string, code: string) {
    return (await context.operations.sandbox.validateCode(code, orgId)).map(({ message }) => ({ field: 'custom_js.code', message }));
  }
}

/** The sections that were sent, each completed with defaults. */
function sectionsOf(sent: Partial<DataLayerConfig>): Partial<DataLayerConfig> {
  const complete = mergeDataLayer(sent);
  return Object.fromEntries(Object.entries(complete).filter(([section]) => Object.hasOwn(sent, section)));
}
function shown({ readable: _readable, ...layer }: DataLayer & { readable?: boolean }): DataLayer {
  return layer;
}
