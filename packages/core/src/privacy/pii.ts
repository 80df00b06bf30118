/** Step 4: rules on the IP address, on named fields and on URL parameters, and detection inside free text. */
import type { DataLayerConfig, PiiAction } from '../config/resources.ts';
import { ownText } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { type Decision, decisionText } from '../outcome/outcome.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import type { PiiKind } from './detector.ts';
import { HashBudget } from './digest.ts';
import { type CompiledFieldRule, compileFieldRule } from './field-rules.ts';
import { truncateIp } from './ip.ts';
import { TextPass } from './text-pass.ts';
import { compileUrlParams, type UrlParamRemover } from './url-params.ts';

export interface CompiledPii {
  ip: 'keep' | 'truncate' | 'drop';
  fields: readonly CompiledFieldRule[];
  detect: ReadonlySet<PiiKind>;
  detect_action: PiiAction;
  url_params: UrlParamRemover | undefined;
}

/** Whether there is any rule beside the one for addresses. */
export function hasRules({ fields, detect, url_params }: CompiledPii): boolean {
  return fields.length > 0 || detect.size > 0 || url_params !== undefined;
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

const MAX_REPORTED = 20;

export function applyPii(event: CanonicalEvent, pii: CompiledPii, decisions: Decision[]): void {
  const pass = new PiiPass(event, pii, decisions);
  while (pass.step());
}

/**
 * The same in steps of a few milliseconds each, for events too large to finish in one turn of the event loop. The event must
 * not be read before `step()` has returned false.
 */
export class PiiPass {
  readonly #event: CanonicalEvent;
  readonly #pii: CompiledPii;
  readonly #decisions: Decision[];
  readonly #changed: string[] = [];
  readonly #hashes = new HashBudget();
  readonly #texts: TextPass | undefined;
  #rule = 0;

  constructor(event: CanonicalEvent, pii: CompiledPii, decisions: Decision[]) {
    this.#event = event;
    this.#pii = pii;
    this.#decisions = decisions;
    applyIp(event.context, pii.ip, this.#changed);
    if (pii.url_params !== undefined || pii.detect.size > 0) this.#texts = new TextPass(event, pii, this.#changed, this.#hashes);
  }

  /** False when the event is done. */
  step(): boolean {
    const rule = this.#pii.fields[this.#rule];
    if (rule !== undefined) {
      this.#rule += 1;
      if (rule.apply(this.#event, this.#hashes)) this.#changed.push(rule.path);
      return true;
    }
    if (this.#texts?.step()) return true;
    this.#finish();
    return false;
  }

  #finish(): void {
    if (this.#changed.length === 0) return;
    const changed = this.#changed.slice(0, MAX_REPORTED).map(decisionText);
    const decision: Decision = { step: 'pii', result: 'changed', changed };
    this.#decisions.push(this.#hashes.exhausted ? { ...decision, detail: 'too many values to hash: the rest is redacted' } : decision);
  }
}

function applyIp(context: JsonObject, action: CompiledPii['ip'], changed: string[]): void {
  if (action === 'keep' || !Object.hasOwn(context, 'ip')) return;
  const ip = ownText(context, 'ip');
  const kept = action === 'truncate' && ip !== undefined ? truncateIp(ip) : undefined;
  if (kept === undefined) delete context.ip;
  else context.ip = kept;
  changed.push('context.ip');
}
