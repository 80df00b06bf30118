/** Step 4: rules on the address, on named fields, on URL parameters, and detection inside free text. */
import type { DataLayerConfig, PiiAction } from '../config/resources.ts';
import { ownObject, ownText } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { type DetectOptions, findPii, type PiiKind } from './detect.ts';
import { hashPii } from './digest.ts';
import { type CompiledFieldRule, compileFieldRule, REDACTED } from './field-rules.ts';
import { truncateIp } from './ip.ts';
import { MAX_TRIES } from './phones.ts';
import { compileUrlParams, type UrlParamRemover } from './url-params.ts';

export interface CompiledPii {
  ip: 'keep' | 'truncate' | 'drop';
  fields: readonly CompiledFieldRule[];
  detect: ReadonlySet<PiiKind>;
  detect_action: PiiAction;
  url_params: UrlParamRemover | undefined;
}

export function compilePii(config: DataLayerConfig['pii_rules'], faults: ConfigFault[]): CompiledPii {
  const fields: CompiledFieldRule[] = [];
  for (const [index, rule] of config.fields.entries()) {
    const compiled = compileFieldRule(rule, `pii_rules.fields[${index}]`, faults);
    if (compiled !== undefined) fields.push(compiled);
  }
  return {
    ip: config.ip,
    fields,
    detect: new Set(config.detect),
    detect_action: config.detect_action,
    url_params: compileUrlParams(config.url_params),
  };
}

/** Made by the service or by machines, full of digits, and free of text that a person wrote. */
const TECHNICAL: ReadonlySet<string> = new Set([
  'ip',
  'user_agent',
  'device',
  'os',
  'browser',
  'geo',
  'bot',
  'consent',
  'consentManagement',
  'click_ids',
  'vendor_ids',
  'session',
  'library',
  'locale',
  'timezone',
  'screen',
  'network',
]);
const MAX_REPORTED = 20;

export function applyPii(event: CanonicalEvent, pii: CompiledPii, decisions: Decision[]): void {
  const changed: string[] = [];
  applyIp(event.context, pii.ip, changed);
  for (const rule of pii.fields) if (rule.apply(event)) changed.push(rule.path);
  if (pii.url_params !== undefined || pii.detect.size > 0) new TextPass(event, pii, changed).run();
  if (changed.length > 0) decisions.push({ step: 'pii', result: 'changed', changed: changed.slice(0, MAX_REPORTED) });
}

function applyIp(context: JsonObject, action: CompiledPii['ip'], changed: string[]): void {
  if (action === 'keep' || !Object.hasOwn(context, 'ip')) return;
  const ip = ownText(context, 'ip');
  const kept = action === 'truncate' && ip !== undefined ? truncateIp(ip) : undefined;
  if (kept === undefined) delete context.ip;
  else context.ip = kept;
  changed.push('context.ip');
}

const GONE = Symbol('gone');

/** One walk over everything that may hold text. */
class TextPass {
  readonly #event: CanonicalEvent;
  readonly #pii: CompiledPii;
  readonly #changed: string[];
  readonly #options: DetectOptions;

  constructor(event: CanonicalEvent, pii: CompiledPii, changed: string[]) {
    this.#event = event;
    this.#pii = pii;
    this.#changed = changed;
    this.#options = pii.detect.has('phone') ? { country: countryOf(event.context), tries: { left: MAX_TRIES } } : {};
  }

  run(): void {
    const event = this.#event;
    this.#inside(event.properties, 'properties', true);
    this.#inside(event.traits, 'traits', true);
    for (const key of Object.keys(event.context)) {
      const detect = !TECHNICAL.has(key);
      this.#member(event.context, key, 'context', detect);
    }
    for (const key of ['event', 'name'] as const) {
      const value = event[key];
      if (value === undefined) continue;
      const cleaned = this.#text(value, true);
      if (cleaned === value) continue;
      // An event keeps a name, whatever stood in it.
      event[key] = cleaned === GONE || cleaned === '' ? REDACTED : (cleaned as string);
      this.#changed.push(key);
    }
  }

  #inside(value: unknown, path: string, detect: boolean): void {
    if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) this.#member(value, i, path, detect);
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) this.#member(value as Record<string, unknown>, key, path, detect);
    }
  }

  #member(container: unknown[] | Record<string, unknown>, key: string | number, path: string, detect: boolean): void {
    const box = container as Record<string | number, unknown>;
    const value = box[key];
    if (typeof value === 'object') {
      if (value !== null && Object.hasOwn(box, key)) this.#inside(value, pathTo(path, key), detect);
      return;
    }
    const cleaned = typeof value === 'string' ? this.#text(value, detect) : this.#number(value, detect);
    if (cleaned === value) return;
    this.#changed.push(pathTo(path, key));
    if (cleaned !== GONE) box[key] = cleaned;
    else if (Array.isArray(container)) container.splice(key as number, 1);
    else delete box[key];
  }

  #text(text: string, detect: boolean): string | typeof GONE {
    const { detect: kinds, detect_action: action, url_params } = this.#pii;
    const cleaned = url_params === undefined ? text : url_params(text);
    if (!detect || kinds.size === 0) return cleaned;
    const findings = findPii(cleaned, kinds, this.#options);
    if (findings.length === 0) return cleaned;
    let out = '';
    let copied = 0;
    for (const { start, end } of findings) {
      out += cleaned.slice(copied, start);
      if (action === 'redact') out += REDACTED;
      else if (action === 'hash') out += hashPii(cleaned.slice(start, end).replace('%40', '@'));
      copied = end;
    }
    out += cleaned.slice(copied);
    return action === 'drop' && out.trim() === '' ? GONE : out;
  }

  /** A card number sent as a number is still a card number. */
  #number(value: unknown, detect: boolean): unknown {
    if (!detect || typeof value !== 'number' || value < 1e12 || !this.#pii.detect.has('card') || !Number.isSafeInteger(value)) return value;
    const cleaned = this.#text(String(value), true);
    return cleaned === String(value) ? value : cleaned;
  }
}

function pathTo(path: string, key: string | number): string {
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

/** The visitor's country, for telephone numbers without one: from the address, else from the language setting. */
function countryOf(context: JsonObject): string | undefined {
  const located = ownText(ownObject(context, 'geo'), 'country');
  if (located !== undefined) return located;
  return /^[a-z]{2,3}(?:[-_][A-Za-z]{4})?[-_]([A-Z]{2})\b/.exec(ownText(context, 'locale') ?? '')?.[1];
}
