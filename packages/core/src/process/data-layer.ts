/** Checks the shape of `/data-layer` config: absent values get defaults, wrong values a fault with their path. */
import { CONSENT_CATEGORY_PATTERN } from '../config/consent-category.ts';
import { type DataLayerConfig, DEFAULT_DATA_LAYER } from '../config/resources.ts';
import { isObject, own } from '../json.ts';
import type { ConfigFault } from '../vendor/compiled.ts';

export type DataLayerSection = keyof DataLayerConfig;
export const DATA_LAYER_SECTIONS = Object.keys(DEFAULT_DATA_LAYER) as DataLayerSection[];

/** Each given section replaces the default; its missing keys get their defaults. A section with a shape fault falls back to its default. */
export function mergeDataLayer(config: Partial<DataLayerConfig> | undefined, faults: readonly ConfigFault[] = []): DataLayerConfig {
  const merged = structuredDefaults();
  if (!isObject(config)) return merged;
  const sections: Record<DataLayerSection, unknown> = merged;
  for (const section of DATA_LAYER_SECTIONS) {
    const sent = own(config, section);
    if (sent === undefined || sent === null || faults.some(({ field }) => isIn(field, section))) continue;
    sections[section] = Array.isArray(sent) ? sent : { ...(sections[section] as object), ...(sent as object) };
  }
  return merged;
}

function structuredDefaults(): DataLayerConfig {
  return JSON.parse(JSON.stringify(DEFAULT_DATA_LAYER)) as DataLayerConfig;
}
function isIn(field: string, section: string): boolean {
  return field === section || field.startsWith(`${section}.`) || field.startsWith(`${section}[`);
}

type Check = (value: unknown, field: string, faults: ConfigFault[]) => void;

const MAX_CODE = 100_000;
const CATEGORY = new RegExp(CONSENT_CATEGORY_PATTERN);

const bool: Check = (value, field, faults) => {
  if (typeof value !== 'boolean') faults.push({ field, message: 'must be true or false' });
};
const oneOf =
  (...choices: string[]): Check =>
  (value, field, faults) => {
    if (typeof value !== 'string' || !choices.includes(value)) faults.push({ field, message: `must be one of ${choices.join(', ')}` });
  };
const text =
  (least: number, most: number): Check =>
  (value, field, faults) => {
    if (typeof value !== 'string' || value.length < least || value.length > most)
      faults.push({ field, message: `must be a text of ${least} to ${most} characters` });
  };
const listOf =
  (item: Check, most = 200): Check =>
  (value, field, faults) => {
    if (!Array.isArray(value)) faults.push({ field, message: 'must be a list' });
    else if (value.length > most) faults.push({ field, message: `must have at most ${most} entries` });
    else for (const [index, one] of value.entries()) item(one, `${field}[${index}]`, faults);
  };
const mapOf =
  (name: RegExp | undefined, item: Check): Check =>
  (value, field, faults) => {
    if (!isObject(value)) faults.push({ field, message: 'must be an object' });
    else {
      for (const key of Object.keys(value)) {
        const at = `${field}.${key}`;
        if (key === '__proto__' || key === '' || key.length > 200 || (name !== undefined && !name.test(key)))
          faults.push({ field: at, message: 'is no usable name' });
        else item(value[key], at, faults);
      }
    }
  };
const shape =
  (fields: Record<string, Check>, required: string[] = []): Check =>
  (value, field, faults) => {
    const at = (key: string) => (field === '' ? key : `${field}.${key}`);
    if (!isObject(value)) {
      faults.push({ field, message: 'must be an object' });
      return;
    }
    for (const key of required) if (!Object.hasOwn(value, key)) faults.push({ field: at(key), message: 'is required' });
    for (const key of Object.keys(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (check === undefined) faults.push({ field: at(key), message: 'is unknown' });
      else if (value[key] !== undefined) check(value[key], at(key), faults);
    }
  };
const category: Check = (value, field, faults) => {
  if (typeof value !== 'string' || !CATEGORY.test(value))
    faults.push({ field, message: 'must be a category in lower case, such as analytics' });
};
const timeout: Check = (value, field, faults) => {
  if (typeof value !== 'number' || !(value > 0 && value <= 1_440))
    faults.push({ field, message: 'must be a number of minutes above 0, at most 1440' });
};
const days: Check = (value, field, faults) => {
  if (typeof value !== 'number' || !(value >= 0 && value <= 400)) faults.push({ field, message: 'must be a number of days from 0 to 400' });
};
/** Conditions and expressions are checked when they are compiled, not here. */
const anything: Check = () => undefined;

const PII_ACTION = oneOf('hash', 'redact', 'drop');
const DATA_LAYER = shape({
  consent: shape({ mapping: mapOf(undefined, category), default: mapOf(CATEGORY, bool), honour_gpc: bool }),
  bot_filtering: shape({
    action: oneOf('flag', 'drop', 'allow'),
    block_empty_user_agent: bool,
    custom_patterns: listOf(text(1, 1_000), 100),
  }),
  pii_rules: shape({
    ip: oneOf('keep', 'truncate', 'drop'),
    fields: listOf(shape({ path: text(1, 500), action: PII_ACTION }, ['path', 'action'])),
    detect: listOf(oneOf('email', 'phone', 'card', 'iban')),
    detect_action: PII_ACTION,
    url_params: listOf(text(1, 200)),
  }),
  session: shape({ timeout_minutes: timeout }),
  identity: shape({ remember_traits: listOf(text(1, 200), 50), click_id_days: mapOf(undefined, days) }),
  custom_js: shape({ enabled: bool, code: text(0, MAX_CODE) }),
  routing_rules: listOf(
    shape({ condition: anything, action: oneOf('drop', 'pass'), pipeline_ids: listOf(text(1, 64), 1_000) }, ['condition', 'action']),
  ),
});

export function checkDataLayer(config: unknown): ConfigFault[] {
  const faults: ConfigFault[] = [];
  DATA_LAYER(config, '', faults);
  if (isObject(config) && isObject(config.custom_js) && config.custom_js.enabled === true) {
    const { code } = config.custom_js;
    if (typeof code !== 'string' || code.trim() === '')
      faults.push({ field: 'custom_js.code', message: 'is required when custom_js is enabled' });
  }
  return faults;
}
