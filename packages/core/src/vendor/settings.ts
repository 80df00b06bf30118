/** Settings that every integration has, for any vendor. Only `endpoint` is shown among a vendor's own fields. */
import { CONSENT_CATEGORY_PATTERN } from '../config/consent-category.ts';
import type { CompiledVendor } from './compiled.ts';
import type { BatchDefinition, ConfigField, VendorDefinition } from './definition.ts';
import type { FieldValues } from './fields.ts';

export const ENDPOINT_FIELD: ConfigField = {
  key: 'endpoint',
  label: 'Endpoint',
  type: 'string',
  required: false,
  placeholder: 'https://proxy.example.com',
  help_text: 'Replaces scheme and host of every request, token requests included (proxies, regions, tests).',
  format: 'url',
};

const setting = (key: string, label: string, placeholder: string, help_text: string, rest: Partial<ConfigField>): ConfigField => ({
  key,
  label,
  type: 'number',
  required: false,
  placeholder,
  help_text,
  integer: true,
  ...rest,
});

const COMMON_FIELDS: readonly ConfigField[] = [
  ENDPOINT_FIELD,
  setting('timeout_ms', 'Timeout (ms)', '30000', 'Longest time a request may take.', { min: 1, max: 300_000 }),
  setting('retry_enabled', 'Retry failed deliveries', 'true', 'Off: one attempt only.', { type: 'boolean', default: true }),
  setting('max_retries', 'Retries', '5', 'Retries after the first attempt, 0 to 5.', { min: 0, max: 5, default: 5 }),
  setting('batch_size', 'Batch size', '100', 'Most events in one request; never above the vendor’s limit.', { min: 1, max: 10_000 }),
  setting('batch_interval_ms', 'Batch interval (ms)', '5000', 'Longest wait before a batch is sent.', { min: 1, max: 900_000 }),
  setting('rate_limit_rps', 'Requests per second', '50', 'Events above the limit wait; none is dropped.', {
    min: 0.01,
    max: 100_000,
    integer: false,
  }),
  setting('rate_limit_burst', 'Burst', '100', 'Requests that may be sent at once; twice the rate by default.', {
    min: 1,
    max: 1_000_000,
  }),
  setting('rate_limit_daily', 'Requests per day', '0', '0 means no daily limit.', { min: 0, max: 1_000_000_000 }),
  setting(
    'max_event_age_hours',
    'Maximum event age (hours)',
    '72',
    'Older events are dropped; 0 means no limit. Default: the vendor’s own limit.',
    {
      min: 0,
      max: 87_600,
      integer: false,
    },
  ),
  {
    key: 'delivery_order',
    label: 'Delivery order',
    type: 'select',
    required: false,
    placeholder: 'none',
    help_text:
      'user, visitor or lane: events of one user, visitor or request target are delivered one after the other, and wait for retries.',
    options: ['none', 'user', 'visitor', 'lane'],
    default: 'none',
  },
  {
    key: 'consent_category',
    label: 'Consent category',
    type: 'string',
    required: false,
    placeholder: 'marketing',
    help_text: 'Deliver only events whose consent grants this category. The same field of the integration record wins.',
    pattern: CONSENT_CATEGORY_PATTERN,
    pattern_hint: 'a category such as marketing, advertising, analytics or functional',
  },
];

export function fieldsOf(definition: VendorDefinition): ConfigField[] {
  const known = new Set(definition.config_fields.map(({ key }) => key));
  return [...definition.config_fields, ...COMMON_FIELDS.filter(({ key }) => !known.has(key))];
}

type Settings = Pick<CompiledVendor, 'batch' | 'ordering' | 'timeout_ms' | 'max_retries' | 'rate' | 'concurrency' | 'consent_category'>;

export function readSettings(
  definition: VendorDefinition,
  { values, given }: Pick<FieldValues, 'values' | 'given'>,
  batches: (BatchDefinition | undefined)[],
): Settings {
  const number = (key: string) => (typeof values[key] === 'number' ? (values[key] as number) : undefined);
  const rps = number('rate_limit_rps') ?? definition.rate?.rps ?? 50;
  // The vendor's burst belongs to the vendor's rate. A rate from the config has its own burst.
  const burst = given.has('rate_limit_burst')
    ? number('rate_limit_burst')
    : given.has('rate_limit_rps')
      ? undefined
      : definition.rate?.burst;
  return {
    batch: batchOf(definition, values, batches),
    ...orderingOf(values.delivery_order),
    timeout_ms: number('timeout_ms') ?? definition.timeout_ms ?? 30_000,
    max_retries: values.retry_enabled === false ? 0 : (number('max_retries') ?? 5),
    rate: {
      rps,
      burst: burst ?? Math.max(1, Math.ceil(rps * 2)),
      daily: number('rate_limit_daily') ?? definition.rate?.daily ?? 0,
      ...(given.has('rate_limit_burst') ? { burst_chosen: true } : {}),
    },
    concurrency: definition.concurrency ?? 8,
    consent_category: typeof values.consent_category === 'string' ? values.consent_category : null,
  };
}

function orderingOf(order: unknown): Pick<CompiledVendor, 'ordering'> {
  return order === 'user' || order === 'visitor' || order === 'lane' ? { ordering: order } : {};
}

/** One limit for all requests of a vendor: the strictest. Items of a request without a limit get a lane each. */
function batchOf(
  definition: VendorDefinition,
  values: Record<string, unknown>,
  batches: (BatchDefinition | undefined)[],
): BatchDefinition | null {
  if (definition.batching && values[definition.batching.field] !== true) return null;
  const limits = batches.filter((batch) => batch !== undefined);
  if (limits.length === 0) return null;
  const size = typeof values.batch_size === 'number' ? values.batch_size : Number.POSITIVE_INFINITY;
  const bytes = typeof values.max_file_mb === 'number' ? values.max_file_mb * 1_000_000 : Number.POSITIVE_INFINITY;
  const interval = typeof values.batch_interval_ms === 'number' ? values.batch_interval_ms : undefined;
  return {
    max_items: Math.min(size, ...limits.map(({ max_items }) => max_items)),
    max_bytes: Math.min(bytes, ...limits.map(({ max_bytes }) => max_bytes)),
    interval_ms: interval ?? Math.min(...limits.map(({ interval_ms }) => interval_ms)),
  };
}
