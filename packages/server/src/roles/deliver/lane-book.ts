/** The stored lanes of integrations: `lanes.<integration_id>` has a record for each change of their number and for each lane that has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EventLog } from '../../stores/event-log/port.ts';
import { type Lane, onlyLane } from './lanes.ts';

type LaneRecord =
  | { kind: 'split'; generation: number; count: number }
  /** `passed`: the lane has tried all of its records. `finished`: none of them waits for a retry any more, and its group is removed. */
  | { kind: 'passed' | 'finished'; generation: number; index: number };
interface Generation {
  lanes: Lane[];
  passed: Set<number>;
  finished: Set<number>;
}

const PREFIX = 'lanes.';
/** A new generation begins this long after it was stored. Every process reads the book several times meanwhile. */
const SWITCH_AFTER_MS = 10_000;
const MOST_RECORDS = 10_000;
const AGAIN_MS = 500;

export class LaneBook {
  readonly #log: Pick<EventLog, 'append' | 'read' | 'remove' | 'topics'>;
  readonly #logger: Logger;
  readonly #loadedAll: () => void;
  readonly #integrations = new Map<string, Generation[]>();
  #loading = false;
  #again = false;
  /** False until all stored lanes are known. Without them an integration could be read by a group that has ended. */
  loaded = false;

  constructor(deps: { log: EventLog; logger: Logger }, loadedAll: () => void) {
    this.#log = deps.log;
    this.#logger = deps.logger;
    this.#loadedAll = loadedAll;
  }

  /** Reads the lanes of all integrations. Call when this process becomes responsible for further integrations. */
  load(): void {
    this.loaded = false;
    this.#again = true;
    if (!this.#loading) void this.#loadAll();
  }
  async #loadAll(): Promise<void> {
    this.#loading = true;
    while (this.#again) {
      this.#again = false;
      try {
        for (const topic of await this.#log.topics(PREFIX)) await this.refresh(topic.slice(PREFIX.length));
      } catch (error) {
        this.#logger.warn({ err: error }, 'delivery lanes not readable, retrying');
        this.#again = true;
        await sleep(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#loading = false;
    this.loaded = true;
    this.#loadedAll();
  }

  /** Integrations with stored lanes. */
  get split(): Iterable<string> {
    return this.#integrations.keys();
  }
  async refresh(integrationId: string): Promise<void> {
    const generations = [firstGeneration(integrationId)];
    for await (const { data, time } of this.#log.read(PREFIX + integrationId, { limit: MOST_RECORDS }))
      apply(generations, JSON.parse(Buffer.from(data).toString()) as LaneRecord, time, integrationId);
    if (generations.length > 1) this.#integrations.set(integrationId, generations);
  }

  /** The lanes that may be delivered now, by whatever process. */
  lanesOf(integrationId: string): Lane[] {
    const generations = this.#integrations.get(integrationId);
    if (!generations) return [onlyLane(integrationId)];
    const lanes: Lane[] = [];
    for (const { lanes: all, passed, finished } of generations) {
      lanes.push(...all.filter(({ index }) => !finished.has(index)));
      if (passed.size < all.length) break;
    }
    return lanes;
  }
  /** The newest number of lanes, and whether it is in force. */
  newest(integrationId: string): { count: number; inForce: boolean } {
    const generations = this.#integrations.get(integrationId) ?? [firstGeneration(integrationId)];
    const inForce = generations.slice(0, -1).every(({ lanes, passed }) => passed.size === lanes.length);
    return { count: generations.at(-1)?.lanes.length ?? 1, inForce };
  }
  hasPassed({ integrationId, generation, index }: Lane): boolean {
    return this.#integrations.get(integrationId)?.[generation]?.passed.has(index) === true;
  }

  async changeCount(integrationId: string, count: number): Promise<void> {
    await this.#append(integrationId, { kind: 'split', generation: this.#integrations.get(integrationId)?.length ?? 1, count });
  }
  async note({ integrationId, generation, index }: Lane, kind: 'passed' | 'finished'): Promise<void> {
    await this.#append(integrationId, { kind, generation, index });
  }
  /** The integration is deleted. */
  async remove(integrationId: string): Promise<void> {
    if (this.#integrations.delete(integrationId)) await this.#log.remove(PREFIX + integrationId);
  }

  async #append(integrationId: string, record: LaneRecord): Promise<void> {
    const index = record.kind === 'split' ? '' : `-${record.index}`;
    const id = `${integrationId}#${record.kind}#${record.generation}${index}`;
    await this.#log.append([{ topic: PREFIX + integrationId, records: [{ id, data: Buffer.from(JSON.stringify(record)) }] }]);
    await this.refresh(integrationId);
  }
}

function firstGeneration(integrationId: string): Generation {
  return { lanes: [onlyLane(integrationId)], passed: new Set(), finished: new Set() };
}

/** Repeated records change nothing: two processes may write one at the same time. */
function apply(generations: Generation[], record: LaneRecord, time: number, integrationId: string): void {
  const { generation } = record;
  if (record.kind !== 'split') {
    const known = generations[generation];
    known?.passed.add(record.index);
    if (record.kind === 'finished') known?.finished.add(record.index);
    return;
  }
  if (generation !== generations.length) return;
  const from = time + SWITCH_AFTER_MS;
  for (const lane of generations.at(-1)?.lanes ?? []) lane.to = from;
  const lanes = Array.from({ length: record.count }, (_, index) => {
    return { integrationId, generation, index, count: record.count, from, to: undefined };
  });
  generations.push({ lanes, passed: new Set(), finished: new Set() });
}
