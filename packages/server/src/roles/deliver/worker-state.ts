/**
 * The life of one integration's worker.
 *
 *   running ⇄ resizing      takes events; or takes none until the window is empty, to restart its consumers
 *   running, resizing → draining → stopped
 *
 * `draining`: no further events and no further requests; requests at the vendor may finish and their settlements are written.
 * `stopped`: unsettled events are handed back to the log.
 */
export type WorkerState = 'running' | 'resizing' | 'draining' | 'stopped';

const NEXT: Record<WorkerState, readonly WorkerState[]> = {
  running: ['resizing', 'draining'],
  resizing: ['running', 'draining'],
  draining: ['stopped'],
  stopped: [],
};

export class WorkerLife {
  #state: WorkerState = 'running';

  get state(): WorkerState {
    return this.#state;
  }
  /** Running or resizing: requests may go out. */
  get active(): boolean {
    return this.#state === 'running' || this.#state === 'resizing';
  }
  /** Throws on a transition that the diagram does not have: that is a bug in the worker. */
  enter(next: WorkerState): void {
    if (!NEXT[this.#state].includes(next)) throw new Error(`a delivery worker cannot go from ${this.#state} to ${next}`);
    this.#state = next;
  }
}
