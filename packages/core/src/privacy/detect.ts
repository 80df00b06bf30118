/**
 * Finds personal data inside free text. Every detector is linear in the length of the text, whatever the text holds:
 * `detector-growth.test.ts` measures it. Long texts are scanned in windows, so that a caller can yield in between.
 */
import { findCards } from './cards.ts';
import { isDigit } from './characters.ts';
import type { DetectOptions, Detector, Finding, PiiKind } from './detector.ts';
import { findEmails } from './emails.ts';
import { findIbans } from './ibans.ts';
import { findPhones } from './phones.ts';

const DETECTORS: Readonly<Record<PiiKind, Detector>> = { email: findEmails, iban: findIbans, card: findCards, phone: findPhones };
const ORDER = Object.keys(DETECTORS) as PiiKind[];
/** Fewer digits in the whole text cannot make up a number of that kind. */
const LEAST_DIGITS: Readonly<Record<PiiKind, number>> = { email: 0, iban: 10, card: 13, phone: 7 };
const WINDOW = 16_384;
/** A text with more is no text that a person wrote: it is covered whole. */
const MAX_FINDINGS = 5_000;

/** One text under detection. `step()` scans one window with one detector; ordinary texts need one step per detector. */
export class Scan {
  readonly #text: string;
  readonly #options: DetectOptions;
  readonly #kinds: PiiKind[];
  readonly #findings: Finding[] = [];
  #kind = 0;
  #at = 0;

  constructor(text: string, kinds: ReadonlySet<PiiKind>, options: DetectOptions = {}) {
    this.#text = text;
    this.#options = options;
    this.#kinds = text.length < 6 ? [] : candidates(text, kinds);
  }

  /** False when nothing is left to scan. */
  step(): boolean {
    const kind = this.#kinds[this.#kind];
    if (kind === undefined) return false;
    const { length } = this.#text;
    this.#at = DETECTORS[kind](this.#text, this.#at, Math.min(length, this.#at + WINDOW), this.#findings, this.#options);
    if (this.#at >= length) {
      this.#kind += 1;
      this.#at = 0;
    }
    return this.#kind < this.#kinds.length && !this.isFull;
  }

  get isFull(): boolean {
    return this.#findings.length > MAX_FINDINGS;
  }

  findings(): Finding[] {
    return this.#findings.length > 1 ? withoutOverlaps(this.#findings) : this.#findings;
  }
}

export function findPii(text: string, kinds: ReadonlySet<PiiKind>, options: DetectOptions = {}): Finding[] {
  const scan = new Scan(text, kinds, options);
  while (scan.step());
  return scan.findings();
}

function candidates(text: string, kinds: ReadonlySet<PiiKind>): PiiKind[] {
  const onlyEmail = kinds.size === 1 && kinds.has('email');
  const digits = onlyEmail ? 0 : countDigits(text);
  return ORDER.filter((kind) => kinds.has(kind) && digits >= LEAST_DIGITS[kind]);
}

function countDigits(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (isDigit(text.charCodeAt(i))) count += 1;
  return count;
}

/** Sorted by position. Of two that overlap the longer one stays: the digits of an IBAN are no phone number. */
function withoutOverlaps(findings: Finding[]): Finding[] {
  const kept: Finding[] = [];
  for (const one of findings.sort((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (one.end - one.start > last.end - last.start) kept[kept.length - 1] = one;
  }
  return kept;
}
