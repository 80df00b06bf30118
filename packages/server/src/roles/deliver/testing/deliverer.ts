import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@firsthand/core/json.ts';

export interface DeliveredIntegration {
  vendor: string;
  config: JsonObject;
  /** Settings of the driver in the place of the vendor's, such as a local address. */
  connection?: Record<string, string>;
  /** The integration's id. Each one delivers the whole backlog. */
  group: string;
}
export interface DeliverTask extends DeliveredIntegration {
  folder: string;
  /** Integrations that the process delivers beside the first one. */
  others?: DeliveredIntegration[];
}
export interface Delivered {
  seconds: number;
  cpu_seconds: number;
  /** Longest stall of the event loop. */
  stall_ms: number;
}

const SAMPLE_MS = 50;

/** A delivering process, started with the flags of `npm start`. */
export class Deliverer {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  #delivered: Delivered | undefined;

  /** `sample` is called with the process id many times a second. */
  constructor(task: DeliverTask, sample: (pid: number | undefined) => void = () => undefined) {
    this.#process = fork(join(import.meta.dirname, 'deliver-process.ts'), [JSON.stringify(task)], {
      execArgv: ['--max-semi-space-size=8', '--v8-pool-size=0'],
      env: { ...process.env, MALLOC_ARENA_MAX: '2' },
    });
    this.#process.on('message', (message: Delivered) => {
      this.#delivered = message;
    });
    const sampling = setInterval(() => sample(this.#process.pid), SAMPLE_MS);
    this.#exited = new Promise((resolve) =>
      this.#process.once('exit', () => {
        clearInterval(sampling);
        resolve();
      }),
    );
  }

  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
  async finished(): Promise<Delivered> {
    await this.#exited;
    if (!this.#delivered) throw new Error('the process ended before the last event was delivered');
    return this.#delivered;
  }
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }
}

/** Kills the process with `kill -9` at even parts of the way and at moments that differ. `stored` counts events at the destination. */
export async function deliverWithKills(
  task: DeliverTask,
  { events, kills, stored }: { events: number; kills: number; stored: () => Promise<number> | number },
  sample?: (pid: number | undefined) => void,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill++) {
    const deliverer = new Deliverer(task, sample);
    const enough = (events * kill) / (kills + 1);
    while ((await stored()) < enough) {
      if (deliverer.ended) throw new Error('the process ended by itself');
      await pause(20);
    }
    await pause(kill * 13);
    await deliverer.kill();
  }
  await new Deliverer(task, sample).finished();
}
