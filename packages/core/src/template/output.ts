import { mayRead, mayWrite } from '../value-size.ts';

/** Where a template writes. Bounded twice: by the length of the text, and by the statements that run, with or without output. */
export class Output {
  text = '';
  fault: string | undefined;
  readonly #limit: number;
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  write(piece: string): void {
    if (this.fault !== undefined) return;
    if (!mayWrite(piece.length)) this.fault = 'The mapping of one event writes too much.';
    else if (this.text.length + piece.length > this.#limit) this.fault = `The rendered text is longer than ${this.#limit} characters.`;
    else this.text += piece;
  }

  /** Counts statements, and JSON by its length. False once the template must stop. */
  work(amount: number): boolean {
    this.#steps += amount;
    if (this.#steps > MAX_STEPS) this.fault ??= `The template's loops run more than ${MAX_STEPS} statements.`;
    return this.read(amount);
  }

  /** Counts the elements of a list, which cost something even if nothing is done with them. */
  read(elements: number): boolean {
    if (!mayRead(elements * STEP_READS)) this.fault ??= 'The mapping of one event reads too much.';
    return this.fault === undefined;
  }
}

const MAX_STEPS = 100_000;
/** A statement costs as much as reading so many characters. */
const STEP_READS = 24;
export const DEFAULT_LIMIT = 1_048_576;
