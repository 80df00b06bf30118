/** A fault and its result: figures, each with the expected value. */
import type { Mode, Scope } from './scope.ts';

export interface Figure {
  stores: string;
  what: string;
  wanted: string;
  measured: string;
  /** Undefined: reported, not judged. */
  ok: boolean | undefined;
}
export interface Verdict {
  figures: Figure[];
  /** Why a part was skipped. */
  left_out?: string[];
}
export interface Fault {
  id: string;
  title: string;
  /** The fault fails if it takes longer. */
  limit_s: Record<Mode, number>;
  run(scope: Scope): Promise<Verdict>;
}

export const EMBEDDED = 'embedded';
export const SERVERS = 'PostgreSQL + NATS';

/** Collects the figures of one fault. */
export class Figures {
  readonly #figures: Figure[] = [];
  readonly #leftOut: string[] = [];
  readonly #stores: string;
  constructor(stores: string, into?: Figures) {
    this.#stores = stores;
    if (into) {
      this.#figures = into.#figures;
      this.#leftOut = into.#leftOut;
    }
  }
  on(stores: string): Figures {
    return new Figures(stores, this);
  }
  atMost(what: string, measured: number, most: number, unit = ''): void {
    this.#add(what, `≤ ${show(most, unit)}`, show(measured, unit), measured <= most);
  }
  atLeast(what: string, measured: number, least: number, unit = ''): void {
    this.#add(what, `≥ ${show(least, unit)}`, show(measured, unit), measured >= least);
  }
  equal(what: string, measured: number | string, wanted: number | string): void {
    this.#add(what, typeof wanted === 'number' ? show(wanted, '') : wanted, String(measured), measured === wanted);
  }
  holds(what: string, wanted: string, holds: boolean, measured: string): void {
    this.#add(what, wanted, measured, holds);
  }
  tell(what: string, measured: number | string, unit = ''): void {
    this.#add(what, '', typeof measured === 'number' ? show(measured, unit) : measured, undefined);
  }
  leaveOut(why: string): void {
    this.#leftOut.push(why);
  }
  get verdict(): Verdict {
    return { figures: this.#figures, ...(this.#leftOut.length > 0 ? { left_out: this.#leftOut } : {}) };
  }
  #add(what: string, wanted: string, measured: string, ok: boolean | undefined): void {
    this.#figures.push({ stores: this.#stores, what, wanted, measured, ok });
  }
}

function show(value: number, unit: string): string {
  const rounded = Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value) : Number(value.toPrecision(3));
  return `${rounded.toLocaleString('en-GB')}${unit === '' ? '' : ` ${unit}`}`;
}
