import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { Limit } from './limit-account.ts';

/** A question to the keeper of a key. */
export interface Ask {
  key: string;
  limit: Limit;
  /** Tokens spent on credit since the last question; negative: unused tokens of a slice that go back. */
  report: number;
  want: number;
}
export interface Grant {
  key: string;
  granted: number;
  /** Milliseconds until the account has another token; 0: it has some now. */
  wait: number;
}
interface Message {
  from: string;
  asks?: Ask[];
  grants?: Grant[];
}

const channelOf = (member: string) => `limits.loans.${member}`;

/** Carries questions and grants between processes. Questions to one process within a millisecond share a message. */
export class LoanDesk {
  readonly #ephemeral: Ephemeral;
  readonly #id: string;
  readonly #unsubscribe: () => void;
  readonly #waiting = new Map<string, Ask[]>();
  #flush: NodeJS.Timeout | undefined;

  constructor(ephemeral: Ephemeral, id: string, handlers: { serve(ask: Ask): Grant; onGrants(grants: readonly Grant[]): void }) {
    this.#ephemeral = ephemeral;
    this.#id = id;
    this.#unsubscribe = ephemeral.subscribe(channelOf(id), (message) => {
      const { from, asks, grants } = message as Message;
      if (grants) handlers.onGrants(grants);
      if (asks) this.#send(from, { from: id, grants: asks.map((ask) => handlers.serve(ask)) });
    });
  }
  ask(keeper: string, question: Ask): void {
    const waiting = this.#waiting.get(keeper);
    if (waiting === undefined) this.#waiting.set(keeper, [question]);
    else waiting.push(question);
    this.#flush ??= setTimeout(() => this.#sendAll(), 1);
  }
  stop(): void {
    clearTimeout(this.#flush);
    this.#unsubscribe();
  }
  #sendAll(): void {
    this.#flush = undefined;
    for (const [keeper, asks] of this.#waiting) this.#send(keeper, { from: this.#id, asks });
    this.#waiting.clear();
  }
  #send(to: string, message: Message): void {
    this.#ephemeral.publish(channelOf(to), message);
  }
}
