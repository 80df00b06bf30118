import { ApiError } from '../../../http/errors.ts';
import { networkOf } from './client-network.ts';

export interface HashClient {
  /** Or another name of the party: each takes its turn. */
  ip: string;
  /** This account has signed in from this network before. */
  known: boolean;
}

interface Waiting {
  network: string;
  ip: string;
  known: boolean;
  /** How many of the same network were waiting on arrival. The lowest goes next, so networks take turns. */
  rank: number;
  start(): void;
  refuse(error: ApiError): void;
}

export interface HashQueueLimits {
  running: number;
  strangers: number;
  known: number;
}
/** Each hash takes 19 MB and a core for some tens of milliseconds. */
const LIMITS: HashQueueLimits = { running: 2, strangers: 64, known: 32 };

/**
 * Bounds how many password hashes run and wait, so that a flood of guesses does not keep people out. Known clients have reserved places
 * and go first. Other clients take turns by network. A full queue drops the newest request of the network with the most waiting requests.
 */
export class HashQueue {
  readonly #limits: HashQueueLimits;
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(limits: HashQueueLimits = LIMITS) {
    this.#limits = limits;
  }

  async run<T>(client: HashClient, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.running) await this.#wait(client);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#takeNext();
      // A finished hash hands over its slot, so `#running` does not change.
      if (next !== undefined) next.start();
      else this.#running -= 1;
    }
  }

  #wait({ ip, known }: HashClient): Promise<void> {
    const network = networkOf(ip);
    const rank = this.#waiting.filter((one) => !one.known && one.network === network).length;
    this.#makeRoom(network, rank, known);
    return new Promise((resolve, reject) => this.#waiting.push({ network, ip, known, rank, start: resolve, refuse: reject }));
  }

  #makeRoom(network: string, ownWaiting: number, known: boolean): void {
    const lane = this.#waiting.filter((one) => one.known === known);
    if (known) {
      if (lane.length >= this.#limits.known) throw tooMany('UNAVAILABLE');
      return;
    }
    if (lane.length < this.#limits.strangers) return;
    const crowd = largestGroup(lane, (one) => one.network);
    if (ownWaiting + 1 >= crowd.length || crowd[0]?.network === network) throw tooMany('RATE_LIMITED');
    const dropped = largestGroup(crowd, (one) => one.ip).at(-1);
    if (dropped === undefined) throw tooMany('RATE_LIMITED');
    this.#waiting.splice(this.#waiting.indexOf(dropped), 1);
    dropped.refuse(tooMany('RATE_LIMITED'));
  }

  #takeNext(): Waiting | undefined {
    let best: Waiting | undefined;
    for (const one of this.#waiting) if (best === undefined || goesBefore(one, best)) best = one;
    if (best !== undefined) this.#waiting.splice(this.#waiting.indexOf(best), 1);
    return best;
  }
}

function goesBefore(one: Waiting, other: Waiting): boolean {
  return one.known === other.known ? !one.known && one.rank < other.rank : one.known;
}

function largestGroup(waiting: readonly Waiting[], key: (one: Waiting) => string): Waiting[] {
  const groups = Object.values(Object.groupBy(waiting, key));
  return groups.reduce<Waiting[]>((largest, group = []) => (group.length >= largest.length ? group : largest), []);
}

function tooMany(code: 'RATE_LIMITED' | 'UNAVAILABLE'): ApiError {
  return new ApiError(code, { message: 'Too many sign-ins at once. Try again in a few seconds.', retryAfterS: 2 });
}
