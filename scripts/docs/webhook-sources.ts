/** The presets of inbound webhooks: event names and mappings, written from packages/catalog/src/sources. */
import { SOURCES } from '@firsthand/catalog/sources/index.ts';
import type { SourceDefinition, SourceMappings, SourceValue } from '@firsthand/core/inbound/source-definition.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

function valueText(value: SourceValue): string {
  if (typeof value === 'string') return code(value);
  if ('first' in value) return value.first.map(valueText).join(' or ');
  if ('each' in value) {
    const fields = Object.entries(value.fields).map(([target, from]) => `${code(target)} from ${valueText(from)}`);
    return `each of ${code(value.each)}: ${fields.join(', ')}`;
  }
  if (value.as === 'major_units') return `${code(value.path)} in major units of ${code(value.currency)}`;
  return `${code(value.path)} as ${value.as === 'number' ? 'a number' : 'a currency code in capitals'}`;
}

function mappingTable(mappings: SourceMappings): string {
  return table(
    ['target', 'from'],
    Object.entries(mappings).map(([target, value]) => [code(target), valueText(value)]),
  );
}

function section(source: SourceDefinition): string {
  const times = (source.timestamp_by_type ?? []).map(
    ({ suffixes, path }) => `${code(path)} for types that end with ${suffixes.map(code).join(' or ')}`,
  );
  const names = Object.entries(source.event_name_map).map(([type, name]) => [code(type), name]);
  return [
    `## ${source.name}`,
    [
      `- Event type: ${source.event_type_path === null ? 'yours to configure' : code(source.event_type_path)}`,
      `- Event id, used for deduplication: ${source.event_id_paths.map(code).join(', else ')}`,
      `- Event time: ${[...times, source.timestamp_path === null ? 'the time of receipt' : code(source.timestamp_path)].join('; else ')}`,
    ].join('\n'),
    ...(names.length > 0 ? [table(['type', 'event'], names)] : []),
    ...(Object.keys(source.mappings).length > 0 ? [`Every event:\n\n${mappingTable(source.mappings)}`] : []),
    ...source.by_type.map(
      ({ prefixes, mappings }) => `Types that start with ${prefixes.map(code).join(', ')}:\n\n${mappingTable(mappings)}`,
    ),
  ].join('\n\n');
}

export function webhookSourcePages(): Page[] {
  const text = `${generatedFrom('packages/catalog/src/sources')}# Webhook source presets

What each preset makes of a payload. The mappings of a source win over its preset, target by target; its event names win name by name.
How to connect a provider: [inbound webhooks](../guides/inbound/README.md).

${SOURCES.map(section).join('\n\n')}
`;
  return [{ file: 'docs/reference/webhook-sources.md', text }];
}
