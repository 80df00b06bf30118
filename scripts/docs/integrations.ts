/** One page per vendor, written from its definition and its cases in packages/catalog. */
import { loadCases, loadVendors, VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import { isObject, type JsonObject } from '@firsthand/core/json.ts';
import { type ConfigField, GROUPS, type LimitRule, type Variant, type VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

const VENDORS = await loadVendors();
const VENDOR_CASES = (await Promise.all(VENDOR_KEYS.map(loadCases))).filter((one) => one !== undefined);
const FOLDER = 'docs/reference/integrations';

export function integrationPages(): Page[] {
  const pages = VENDORS.map((vendor) => ({ file: `${FOLDER}/${vendor.key}.md`, text: vendorPage(vendor) }));
  return [{ file: `${FOLDER}/README.md`, text: indexPage() }, ...pages];
}

function indexPage(): string {
  const sections = GROUPS.flatMap((group) => {
    const vendors = VENDORS.filter((vendor) => vendor.group === group).sort((a, b) => a.name.localeCompare(b.name));
    const rows = vendors.map((vendor) => [`[${vendor.name}](${vendor.key}.md)`, vendor.status, vendor.description]);
    const title = `${group.charAt(0).toUpperCase()}${group.slice(1).replaceAll('_', ' ')}`;
    return rows.length === 0 ? [] : [`## ${title}\n\n${table(['vendor', 'status', 'what it does'], rows)}`];
  });
  return `${generatedFrom('packages/catalog/src/vendors')}# Integrations

Every vendor of the catalog, by group. Each page lists the setup steps, the fields, the events and their mapping, a sample request, the
limits, and what is dropped.

${sections.join('\n\n')}
`;
}

function vendorPage(vendor: VendorDefinition): string {
  const parts = [
    `${generatedFrom(`packages/catalog/src/vendors/${vendor.key}`)}# ${vendor.name}`,
    vendor.description,
    `Key: ${code(vendor.key)}. Category: ${vendor.category}. Status: ${vendor.status}. [Vendor documentation](${vendor.website}).`,
    `## Setup\n\n${[...vendor.setup_steps, ...seeItArrive(vendor)].map((step, at) => `${at + 1}. ${step}`).join('\n')}`,
    `## Fields\n\n${table(['field', 'required', 'example', 'where to find it'], vendor.config_fields.map(fieldRow))}`,
    ...vendor.variants.map((variant, at) => variantSection(variant, at === 0 ? undefined : vendor.variants[0])),
    ...sample(vendor),
    `## Limits\n\n${list(limits(vendor))}`,
    `## What is dropped, and why\n\n${list(dropped(vendor))}`,
    ...(vendor.notes?.length ? [`## Notes\n\n${list(vendor.notes)}`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function seeItArrive({ see_it, test_mode: test }: VendorDefinition): string[] {
  const how =
    test === undefined ? '' : ` With \`"test_mode": true\`${test.value === undefined ? ' and a `test_code`' : ''}: ${test.effect}`;
  return [
    `Create the integration, disabled, and send a test event with \`POST /v1/admin/pipelines/{id}/integrations/{integration_id}/test\`. The response shows what the vendor answered.${how}`,
    ...(see_it === undefined ? [] : [`See it. ${see_it}`]),
  ];
}

function fieldRow(field: ConfigField): string[] {
  const required = field.required
    ? 'yes'
    : field.required_when
      ? `when ${code(field.required_when.field)} is ${code(field.required_when.equals)}`
      : 'no';
  return [`${code(field.key)} (${field.type})`, required, field.type === 'secret' ? '–' : code(String(field.placeholder)), field.help_text];
}

/** `first` is the first variant, where this is another one: a mapping that both share is shown once. */
function variantSection({ key, name, description, default_config: config }: Variant, first: Variant | undefined): string {
  const global = isObject(config.global) ? mappingRows(config.global.mappings) : [];
  const shared = first !== undefined && JSON.stringify(first.default_config.global) === JSON.stringify(config.global);
  const events = isObject(config.events) ? Object.entries(config.events) : [];
  const rows = events.flatMap(([event, entries]) =>
    (Array.isArray(entries) ? entries : [entries])
      .filter((entry): entry is JsonObject => isObject(entry))
      .map((entry) => [
        code(event),
        typeof entry.vendor_event_name === 'string' ? code(entry.vendor_event_name) : '–',
        mappingRows(entry.mappings)
          .map(([source = '', target = '']) => `${source} → ${target}`)
          .join('<br>') || '–',
      ]),
  );
  return [
    `## Variant ${code(key)}: ${name}`,
    description,
    ...(global.length > 0
      ? [`Mapping of every event${shared ? `: as in ${code(first.key)}.` : `:\n\n${table(['from', 'to', 'transforms'], global)}`}`]
      : []),
    rows.length > 0
      ? `Events:\n\n${table(['event', 'sent as', 'own fields'], rows)}`
      : 'No event has a mapping of its own: see "What is dropped" for what happens to the others.',
  ].join('\n\n');
}

function mappingRows(mappings: unknown): string[][] {
  if (!Array.isArray(mappings)) return [];
  return mappings.filter(isObject).map((line) => {
    const from =
      line.source !== undefined
        ? [line.source]
            .flat()
            .map((path) => code(String(path)))
            .join(' or ')
        : line.template !== undefined
          ? code(String(line.template))
          : `constant ${code(JSON.stringify(line.value))}`;
    const transforms = (Array.isArray(line.transforms) ? line.transforms : []).map((one) =>
      code(isObject(one) ? String(one.name) : String(one)),
    );
    return [from, `${code(String(line.target))}${line.required === true ? ' (required)' : ''}`, transforms.join(', ') || '–'];
  });
}

function sample(vendor: VendorDefinition): string[] {
  const known = VENDOR_CASES.find((cases) => cases.vendor.key === vendor.key)?.cases.find(
    ({ requests }) => requests?.[0]?.url !== undefined,
  );
  const request = known?.requests?.[0];
  if (known === undefined || request === undefined) return [];
  const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body, null, 2);
  const head = `${request.method ?? 'POST'} ${request.url}`;
  return [
    `## Sample request\n\nThe test "${known.name}" expects this request:\n\n\`\`\`\n${head}\n${body === undefined ? '' : `\n${body}\n`}\`\`\``,
  ];
}

function limits(vendor: VendorDefinition): string[] {
  const batches = vendor.requests.flatMap(({ batch, name }) =>
    batch === undefined
      ? []
      : [
          `Batches${name ? ` (${name})` : ''}: up to ${batch.max_items} items or ${batch.max_bytes} bytes, sent after ${batch.interval_ms} ms at the latest.`,
        ],
  );
  const { rate, concurrency, timeout_ms, event_name, max_event_age_hours } = vendor;
  return [
    ...batches,
    ...(rate
      ? [
          `Rate: ${rate.rps} requests per second${rate.burst ? `, bursts of ${rate.burst}` : ''}${rate.daily ? `, ${rate.daily} per day` : ''}.`,
        ]
      : []),
    ...(concurrency ? [`Concurrent requests: ${concurrency}.`] : []),
    ...(timeout_ms ? [`Timeout: ${timeout_ms} ms.`] : []),
    ...(event_name?.max_length ? [`Event names: up to ${event_name.max_length} characters.`] : []),
    ...(max_event_age_hours ? [`Age of an event: up to ${max_event_age_hours} hours.`] : []),
    ...(vendor.limits ?? []).map(limitText),
  ];
}

function limitText(rule: LimitRule): string {
  const bounds = [
    ...(rule.max_keys ? [`${rule.max_keys} keys`] : []),
    ...(rule.max_key_length ? [`keys of ${rule.max_key_length} characters`] : []),
    ...(rule.max_string_length ? [`texts of ${rule.max_string_length} characters`] : []),
    ...(rule.max_list_length ? [`${rule.max_list_length} list elements`] : []),
    ...(rule.scalars_only ? ['no objects or lists'] : []),
  ];
  return `${code(rule.path)}: ${bounds.join(', ') || 'restricted key names'}.`;
}

const UNMAPPED = {
  drop: 'Events without a mapping: `mapping_default`. Add an entry under `events` to send them.',
  map: 'Events without an entry under `events` are not dropped: they are sent with the mapping of every event. Set `defaults` to `{"action": "drop"}` to drop them as `mapping_default`.',
  pass_through: 'Events without a mapping are passed on as they are.',
} as const;

/** What an installation starts with: the variant decides, else the vendor. */
function unmappedAction({ key, variants, default_action }: VendorDefinition): keyof typeof UNMAPPED {
  const [first, ...others] = variants.map(({ default_config: { defaults } }) =>
    isObject(defaults) && typeof defaults.action === 'string' ? defaults.action : default_action,
  );
  const action = first ?? default_action;
  if (!Object.hasOwn(UNMAPPED, action)) throw new Error(`${key}: the action ${action} of its defaults is unknown`);
  if (others.some((other) => other !== action))
    throw new Error(`${key}: its variants treat other events differently; the page says it once`);
  return action as keyof typeof UNMAPPED;
}

function dropped(vendor: VendorDefinition): string[] {
  const { event_name, require_one_of = [], max_event_age_hours } = vendor;
  return [
    UNMAPPED[unmappedAction(vendor)],
    'Events whose visitor has not granted the integration’s consent category: `consent_not_granted`.',
    'Events that the integration’s event filter does not name: `event_filtered`.',
    ...require_one_of.map((keys) => `Events with none of ${keys.map(code).join(', ')}: \`missing_required:${keys[0]}\`.`),
    ...(max_event_age_hours ? [`Events older than ${max_event_age_hours} hours: \`event_too_old\`.`] : []),
    ...(event_name?.reserved?.length || event_name?.reserved_prefixes?.length
      ? [
          `Event names that the vendor reserves: ${[...(event_name.reserved ?? []), ...(event_name.reserved_prefixes ?? []).map((prefix) => `${prefix}…`)].map(code).join(', ')}.`,
        ]
      : []),
  ];
}

function list(items: string[]): string {
  return items.length === 0 ? 'None known.' : items.map((item) => `- ${item}`).join('\n');
}
