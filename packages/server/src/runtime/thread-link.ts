/** Messages between two threads, in order: notices, and calls that are answered. */
import type { MessagePort, Transferable, Worker } from 'node:worker_threads';

type Message =
  | { kind: 'tell'; name: string; value: unknown }
  | { kind: 'call'; name: string; value: unknown; id: number }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failed'; id: number; error: { name: string; message: string } };
type Answer = (value: never) => unknown;

/** Errors that keep their class. Any other becomes an `Error` with the same name and text. */
export type ErrorClasses = Record<string, new (message: string) => Error>;

export class ThreadLink {
  readonly #port: MessagePort | Worker;
  readonly #errors: ErrorClasses;
  readonly #listeners = new Map<string, (value: never) => void>();
  readonly #answers = new Map<string, Answer>();
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #lastId = 0;
  #ended: Error | undefined;

  constructor(port: MessagePort | Worker, errors: ErrorClasses = {}) {
    this.#port = port;
    this.#errors = errors;
    port.on('message', (message: Message) => void this.#receive(message));
  }

  on<T>(name: string, listener: (value: T) => void): void {
    this.#listeners.set(name, listener as (value: never) => void);
  }
  answer<T>(name: string, answer: (value: T) => unknown): void {
    this.#answers.set(name, answer as Answer);
  }

  /**
   * Values are copied as by `structuredClone`: a view of a buffer takes the whole buffer with it. `transfer`: buffers to give away instead of
   * copying them.
   */
  tell(name: string, value: unknown, transfer?: Transferable[]): void {
    this.#send({ kind: 'tell', name, value }, transfer);
  }
  call<T>(name: string, value?: unknown): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send({ kind: 'call', name, value, id });
    });
  }

  /** The other thread is gone: calls that wait fail, and so do all later ones. */
  end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  #receive(message: Message): void | Promise<void> {
    switch (message.kind) {
      case 'tell':
        return this.#listeners.get(message.name)?.(message.value as never);
      case 'call':
        return this.#reply(message.id, message.name, message.value);
      case 'answer':
        this.#take(message.id)?.resolve(message.value);
        return undefined;
      case 'failed': {
        const { name, message: text } = message.error;
        const known = this.#errors[name];
        this.#take(message.id)?.reject(known ? new known(text) : Object.assign(new Error(text), { name }));
      }
    }
  }
  #take(id: number) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  async #reply(id: number, name: string, value: unknown): Promise<void> {
    try {
      const answer = this.#answers.get(name);
      if (answer === undefined) throw new Error(`the other thread has no answer to ${name}`);
      this.#send({ kind: 'answer', id, value: await answer(value as never) });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      this.#send({ kind: 'failed', id, error: { name, message } });
    }
  }
  #send(message: Message, transfer?: Transferable[]): void {
    if (this.#ended === undefined) this.#port.postMessage(message, transfer);
  }
}
