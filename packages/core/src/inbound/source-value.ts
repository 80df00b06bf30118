/** Compiles the values of a source's mappings: a path, or one of the conversions that presets use. */
import { isObject, type Json, type JsonObject } from '../json.ts';
import { compileJsonPath, type WebhookGetter, type WebhookInput } from './json-path.ts';
import type { SourceMappings, SourceValue } from './source-definition.ts';
import { assign } from './target.ts';

type Report = (message: string) => void;

/** Returns undefined and calls `report` with the reason if the value does not compile. */
export function compileSourceValue(value: SourceValue, report: Report): WebhookGetter | undefined {
  if (typeof value === 'string') return pathOf(value, report);
  if ('first' in value) return firstOf(value.first, report);
  if ('each' in value) return compileEach(value.each, value.fields, report);
  const get = pathOf(value.path, report);
  if (get === undefined) return undefined;
  if (value.as !== 'major_units') {
    const convert = value.as === 'number' ? numberOf : currencyOf;
    return (input) => convert(get(input));
  }
  const currency = pathOf(value.currency, report);
  if (currency === undefined) return undefined;
  return (input) => majorUnits(numberOf(get(input)), currencyOf(currency(input)));
}

function pathOf(text: string, report: Report): WebhookGetter | undefined {
  const compiled = compileJsonPath(text);
  if (compiled.ok) return compiled.get;
  report(compiled.message);
  return undefined;
}

function firstOf(values: readonly SourceValue[], report: Report): WebhookGetter {
  const getters = values.flatMap((value) => compileSourceValue(value, report) ?? []);
  return (input) => {
    for (const get of getters) {
      const found = get(input);
      if (found !== undefined && found !== null) return found;
    }
    return undefined;
  };
}

function compileEach(list: string, mappings: SourceMappings, report: Report): WebhookGetter | undefined {
  const items = pathOf(list, report);
  const fields = Object.entries(mappings).flatMap(([target, value]) => {
    const get = compileSourceValue(value, report);
    return get === undefined ? [] : [{ target, get }];
  });
  if (items === undefined) return undefined;
  return (input) => {
    const found = items(input);
    return Array.isArray(found) ? found.filter(isObject).map((item) => objectOf({ ...input, body: item }, fields)) : undefined;
  };
}

function objectOf(input: WebhookInput, fields: readonly { target: string; get: WebhookGetter }[]): JsonObject {
  const object: JsonObject = {};
  for (const { target, get } of fields) {
    const value = get(input);
    if (value !== undefined && value !== null) assign(object, target, value as Json);
  }
  return object;
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,10})?$/.test(value.trim()) ? Number(value) : undefined;
}

function currencyOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.toUpperCase() : undefined;
}

/**
 * Stripe's amounts are in the smallest unit of the currency (https://docs.stripe.com/currencies). Most currencies have two decimals;
 * these have none or three. ISK and UGX no longer have a smaller unit, but Stripe still writes them with two decimals.
 */
const NO_DECIMALS = new Set(['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'MGA', 'PYG', 'RWF', 'VND', 'VUV', 'XAF', 'XOF', 'XPF']);
const THREE_DECIMALS = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND']);

/** Undefined without a currency: an amount in unknown units must not be treated as money. */
function majorUnits(amount: number | undefined, currency: string | undefined): number | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  if (NO_DECIMALS.has(currency)) return amount;
  return amount / (THREE_DECIMALS.has(currency) ? 1_000 : 100);
}
