/** Where a template writes. Bounded twice: by what it writes, and by how often its loops turn, written or not. */
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
    if (this.text.length + piece.length > this.#limit) this.fault = `The rendered text is longer than ${this.#limit} characters.`;
    else this.text += piece;
  }

  /** False once the template must stop. */
  step(): boolean {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) this.fault ??= `The template's loops turn more than ${MAX_STEPS} times.`;
    return this.fault === undefined;
  }
}

const MAX_STEPS = 100_000;
export const DEFAULT_LIMIT = 1_048_576;
