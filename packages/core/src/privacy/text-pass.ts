/** One walk over every text of an event: removes URL parameters and covers what the detectors find. */
import { ownObject, ownText } from '../context/objects.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import { Scan } from './detect.ts';
import type { DetectOptions, Finding } from './detector.ts';
import { type HashBudget, REDACTED } from './digest.ts';
import { MAX_TRIES } from './phones.ts';
import type { CompiledPii } from './pii.ts';

/** Context fields that hold no text written by a person. Many are full of digits that look like phone numbers. */
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
/** Work of one step, in characters: a value costs its text and the visit. Ten times this takes about 10 ms. */
const STEP_COST = 16_384;
const VISIT_COST = 8;
const GONE = Symbol('gone');

type Container = Record<string, unknown> | unknown[];
interface Frame {
  container: Container;
  /** Undefined for a list. */
  keys: string[] | undefined;
  next: number;
  path: string;
  detect: boolean;
  /** Elements were dropped: the list is closed up when its frame ends. */
  holes: boolean;
}
/** A text under detection, and where its result goes. */
interface Open {
  scan: Scan;
  text: string;
  put(cleaned: string | typeof GONE): void;
}

/** The walk keeps its own stack, so that it can stop after any value and go on later. */
export class TextPass {
  readonly #event: CanonicalEvent;
  readonly #pii: CompiledPii;
  readonly #changed: string[];
  readonly #hashes: HashBudget;
  readonly #options: DetectOptions;
  readonly #stack: Frame[] = [];
  #open: Open | undefined;

  constructor(event: CanonicalEvent, pii: CompiledPii, changed: string[], hashes: HashBudget) {
    this.#event = event;
    this.#pii = pii;
    this.#changed = changed;
    this.#hashes = hashes;
    this.#options = pii.detect.has('phone') ? { country: countryOf(event.context), tries: { left: MAX_TRIES } } : {};
    // Last in, first out.
    this.#push({ event: event.event, name: event.name }, '', true);
    this.#push(event.context, 'context', true);
    this.#push(event.traits, 'traits', true);
    this.#push(event.properties, 'properties', true);
  }

  /** False when every text is done. */
  step(): boolean {
    let cost = 0;
    while (cost < STEP_COST) {
      if (this.#open !== undefined) {
        cost += this.#advance(this.#open);
        continue;
      }
      const frame = this.#stack.at(-1);
      if (frame === undefined) return false;
      if (frame.next === (frame.keys ?? (frame.container as unknown[])).length) this.#pop(frame);
      else cost += this.#member(frame);
    }
    return true;
  }

  #push(value: unknown, path: string, detect: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    this.#stack.push({ container: value as Container, keys, next: 0, path, detect, holes: false });
  }

  #pop(frame: Frame): void {
    this.#stack.pop();
    if (!frame.holes) return;
    const list = frame.container as unknown[];
    let kept = 0;
    for (const item of list) if (item !== GONE) list[kept++] = item;
    list.length = kept;
  }

  #member(frame: Frame): number {
    const { keys, container, next } = frame;
    frame.next += 1;
    const key = keys === undefined ? next : (keys[next] ?? '');
    const value = (container as Record<string | number, unknown>)[key];
    if (typeof value === 'string') {
      this.#text(frame, key, value, value);
      return VISIT_COST + value.length;
    }
    if (typeof value === 'object') this.#push(value, pathTo(frame.path, key), frame.detect && !this.#isTechnical(frame, key));
    // A card number sent as a number is still a card number.
    else if (typeof value === 'number' && value >= 1e12 && this.#pii.detect.has('card') && Number.isSafeInteger(value))
      this.#text(frame, key, String(value), value);
    return VISIT_COST;
  }

  #isTechnical(frame: Frame, key: string | number): boolean {
    return frame.container === this.#event.context && TECHNICAL.has(String(key));
  }

  #text(frame: Frame, key: string | number, text: string, original: unknown): void {
    const { detect: kinds, url_params } = this.#pii;
    const cleaned = url_params === undefined ? text : url_params(text);
    const put = (result: string | typeof GONE) => {
      if (result !== text) this.#put(frame, key, result);
    };
    if (kinds.size === 0 || !frame.detect || this.#isTechnical(frame, key)) {
      if (original === text) put(cleaned);
      return;
    }
    this.#open = { scan: new Scan(cleaned, kinds, this.#options), text: cleaned, put };
  }

  /** One window of one detector. */
  #advance(open: Open): number {
    if (open.scan.step()) return Math.min(open.text.length, STEP_COST);
    this.#open = undefined;
    if (open.scan.isFull) open.put(this.#pii.detect_action === 'drop' ? GONE : REDACTED);
    else open.put(this.#covered(open.text, open.scan.findings()));
    return VISIT_COST;
  }

  #covered(text: string, findings: readonly Finding[]): string | typeof GONE {
    if (findings.length === 0) return text;
    const action = this.#pii.detect_action;
    let out = '';
    let copied = 0;
    for (const { start, end } of findings) {
      out += text.slice(copied, start);
      if (action === 'redact') out += REDACTED;
      else if (action === 'hash') out += this.#hashes.hash(text.slice(start, end).replace('%40', '@'));
      copied = end;
    }
    out += text.slice(copied);
    return action === 'drop' && out.trim() === '' ? GONE : out;
  }

  #put(frame: Frame, key: string | number, result: string | typeof GONE): void {
    if (frame.path === '') {
      // An event keeps a name, even where all of it was personal data.
      this.#event[key as 'event' | 'name'] = result === GONE || result === '' ? REDACTED : result;
      this.#changed.push(String(key));
      return;
    }
    this.#changed.push(pathTo(frame.path, key));
    const box = frame.container as Record<string | number, unknown>;
    if (result !== GONE) box[key] = result;
    else if (frame.keys !== undefined) delete box[key];
    else {
      box[key] = GONE;
      frame.holes = true;
    }
  }
}

function pathTo(path: string, key: string | number): string {
  return typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
}

/** The visitor's country, for national phone numbers: from the IP address, else from the locale. */
function countryOf(context: JsonObject): string | undefined {
  const located = ownText(ownObject(context, 'geo'), 'country');
  if (located !== undefined) return located;
  return /^[a-z]{2,3}(?:[-_][A-Za-z]{4})?[-_]([A-Z]{2})\b/.exec(ownText(context, 'locale') ?? '')?.[1];
}
