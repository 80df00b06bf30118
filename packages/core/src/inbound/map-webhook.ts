/** Compiles a webhook source's mapping: takes the third party's payload, returns track events in the form clients send. */

import type { WebhookSource } from '../config/resources.ts';
import { isoTime } from '../iso-time.ts';
import { isObject, type JsonObject } from '../json.ts';
import { endQuota, isQuotaSpent, MAX_WRITTEN, mayRead, startQuota, weigh } from '../value-size.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { compileJsonPath, type WebhookGetter, type WebhookInput } from './json-path.ts';
import type { SourceDefinition, SourceMappings } from './source-definition.ts';
import { compileSourceValue } from './source-value.ts';
import { assign, checkTarget } from './target.ts';
import { webhookTime } from './webhook-time.ts';

export type MapResult = { ok: true; events: JsonObject[] } | { ok: false; reason: string };
export type WebhookMapper = (input: WebhookInput, receivedAt: number) => MapResult;
export type MappingFields = Pick<
  WebhookSource,
  'event_type_path' | 'mappings' | 'event_name_map' | 'timestamp_path' | 'timestamp_format' | 'source_type' | 'default_consent'
>;
/** `context.consent.source` of events whose consent comes from the webhook source's `default_consent`. */
export const DEFAULT_CONSENT = 'webhook_source_default';
/** Services that send lists send at most a hundred items. */
const MAX_LIST = 1_000;
/** What the mappings of one webhook may still write. Each of a thousand lines may name the whole payload. */
interface Quota {
  left: number;
}
/** Thousands of lines that each read a long list take seconds of the thread that accepts requests. */
const READ_TOO_MUCH = 'mapping failed: payload_too_large, the mappings read more than 8 MB of the payload';
/** What a line costs besides the lists it reads, in characters. */
const PER_LINE = 96;
interface Field {
  target: string;
  get: WebhookGetter;
}
interface Plan {
  eventType: WebhookGetter | undefined;
  eventIds: WebhookGetter[];
  time: WebhookGetter | undefined;
  format: WebhookSource['timestamp_format'];
  timeByType: { suffixes: readonly string[]; get: WebhookGetter }[];
  names: ReadonlyMap<string, string>;
  fields: Field[];
  byType: { prefixes: readonly string[]; fields: Field[] }[];
  ownFields: Field[];
  sourceType: string;
  defaultConsent: WebhookSource['default_consent'];
}

export function compileMapping(definition: SourceDefinition, source: MappingFields): { map: WebhookMapper; faults: ConfigFault[] } {
  const faults: ConfigFault[] = [];
  const path = (field: string, text: string): WebhookGetter | undefined => {
    const compiled = compileJsonPath(text);
    if (compiled.ok) return compiled.get;
    faults.push({ field, message: compiled.message });
    return undefined;
  };
  const fieldsOf = (mappings: SourceMappings): Field[] =>
    Object.entries(mappings).flatMap(([target, value]) => {
      const wrong = checkTarget(target);
      if (wrong !== undefined) faults.push({ field: `mappings.${target}`, message: wrong });
      const get = compileSourceValue(value, (message) => faults.push({ field: `mappings.${target}`, message }));
      return get === undefined || wrong !== undefined ? [] : [{ target, get }];
    });
  // A static name set by the user applies to every payload, whatever type the provider sends.
  const staticName = source.event_type_path === null && Object.hasOwn(source.mappings, 'event');
  const typePath = staticName ? null : (source.event_type_path ?? definition.event_type_path);
  const timePath = source.timestamp_path ?? source.mappings.timestamp ?? definition.timestamp_path;
  const ownTime = source.timestamp_path !== null || source.mappings.timestamp !== undefined;
  const plan: Plan = {
    eventType: typePath === null ? undefined : path('event_type_path', typePath),
    eventIds: definition.event_id_paths.flatMap((text) => path('event_id', text) ?? []),
    time: timePath === null ? undefined : path('timestamp_path', timePath),
    format: source.timestamp_format ?? (ownTime ? null : definition.timestamp_format),
    timeByType: ownTime
      ? []
      : (definition.timestamp_by_type ?? []).flatMap(({ suffixes, path: text }) => {
          const get = path('timestamp_path', text);
          return get === undefined ? [] : [{ suffixes, get }];
        }),
    names: new Map([...Object.entries(definition.event_name_map), ...Object.entries(source.event_name_map)]),
    fields: fieldsOf(definition.mappings),
    byType: definition.by_type.map(({ prefixes, mappings }) => ({ prefixes, fields: fieldsOf(mappings) })),
    ownFields: fieldsOf(source.mappings),
    sourceType: source.source_type,
    defaultConsent: source.default_consent,
  };
  const list = definition.body === 'list';
  return {
    faults,
    map(input, receivedAt) {
      const bodies = list && Array.isArray(input.body) ? input.body : [input.body];
      if (bodies.length > MAX_LIST) return { ok: false, reason: `mapping failed: the payload holds more than ${MAX_LIST} events` };
      const events: JsonObject[] = [];
      const size = weigh(input.body, Number.POSITIVE_INFINITY);
      const quota: Quota = { left: Math.max(MAX_WRITTEN, 4 * size) };
      startQuota(size);
      try {
        for (const body of bodies) {
          const mapped = mapOne(plan, { ...input, body }, receivedAt, quota);
          if (isQuotaSpent()) return { ok: false, reason: READ_TOO_MUCH };
          if (typeof mapped === 'string') return { ok: false, reason: mapped };
          events.push(mapped);
        }
        return { ok: true, events };
      } finally {
        endQuota();
      }
    },
  };
}

/** Returns the event, or the reason why there is none. */
function mapOne(plan: Plan, input: WebhookInput, receivedAt: number, quota: Quota): JsonObject | string {
  if (!isObject(input.body) && !Array.isArray(input.body)) return 'mapping failed: the payload is neither an object nor a list';
  const type = scalar(plan.eventType?.(input));
  const event: JsonObject = { type: 'track' };
  let fault = fill(event, plan.fields, input, quota);
  for (const { prefixes, fields } of plan.byType)
    if (type !== undefined && prefixes.some((prefix) => type.startsWith(prefix))) fault ??= fill(event, fields, input, quota);
  fault ??= fill(event, plan.ownFields, input, quota);
  if (fault !== undefined) return fault;

  const name = type ?? (event.event as string | undefined);
  if (name === undefined) return 'mapping failed: there is no event name at event_type_path or in the mapping of event';
  event.event = plan.names.get(name) ?? name;

  const time = timeOf(plan, type, input);
  const at = time === undefined ? receivedAt : webhookTime(time, plan.format);
  if (at === undefined) return `mapping failed: the timestamp is not ${plan.format ?? 'a time'}`;
  event.timestamp = isoTime(at);

  const provided = firstScalar(plan.eventIds, input);
  if (event.messageId === undefined && provided !== undefined) event.messageId = provided;
  const id = (event.messageId as string | undefined) ?? (isObject(input.body) ? scalar(input.body.id) : undefined);
  const context = event.context as JsonObject | undefined;
  event.context = {
    ...context,
    // Marked so that the trace distinguishes the source's default from the visitor's own consent.
    ...(plan.defaultConsent === null || context?.consent !== undefined
      ? {}
      : { consent: { categories: { ...plan.defaultConsent }, source: DEFAULT_CONSENT } }),
    source: 'webhook',
    webhook_source: plan.sourceType,
    ...(id === undefined ? {} : { webhook_event_id: id }),
  };
  return event;
}

/** Form services send an empty text for a field without a value: it is as missing as null. */
function timeOf(plan: Plan, type: string | undefined, input: WebhookInput): unknown {
  const preferred = plan.timeByType.find(({ suffixes }) => type !== undefined && suffixes.some((suffix) => type.endsWith(suffix)));
  return filled(preferred?.get(input)) ?? filled(plan.time?.(input));
}
function filled(value: unknown): unknown {
  return value === null || (typeof value === 'string' && value.trim() === '') ? undefined : value;
}

const IDS = new Set(['event', 'userId', 'anonymousId', 'messageId']);

function fill(event: JsonObject, fields: readonly Field[], input: WebhookInput, quota: Quota): string | undefined {
  for (const { target, get } of fields) {
    if (target === 'timestamp') continue;
    if (!mayRead(PER_LINE)) return READ_TOO_MUCH;
    const value = get(input);
    if (value === undefined) continue;
    quota.left -= weigh(value, quota.left);
    if (quota.left < 0) return 'mapping failed: payload_too_large, the mappings copy too much of the payload';
    if (IDS.has(target)) {
      if (value === null || value === '') continue;
      const text = scalar(value);
      if (text === undefined) return `mapping failed: ${target} is not text`;
      event[target] = text;
    } else if ((target === 'properties' || target === 'traits') && !isObject(value)) {
      return `mapping failed: ${target} is not an object`;
    } else assign(event, target, value);
  }
  return undefined;
}

function firstScalar(getters: readonly WebhookGetter[], input: WebhookInput): string | undefined {
  for (const get of getters) {
    const value = scalar(get(input));
    if (value !== undefined) return value;
  }
  return undefined;
}
function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
