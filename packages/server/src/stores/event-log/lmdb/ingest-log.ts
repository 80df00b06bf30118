import type { Clock } from '../../../runtime/clock.ts';
import type { Append, AppendResult } from '../port.ts';
import { ArenaPool } from './arena-pool.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { GroupCommit } from './group-commit.ts';
import { metaKeys, readU32 } from './keys.ts';
import { IdUpkeep, KnownIds } from './known-ids.ts';
import { LmdbLog } from './log.ts';
import { SteadyTime } from './steady-time.ts';
import { TailCache } from './tail-cache.ts';
import { Topic } from './topic.ts';

export interface IngestLogSettings {
  path: string;
  dedupWindowMs: number;
  clock: Clock;
  /** All that it may append to. */
  topics: readonly string[];
  onFatal: (error: Error) => void;
  onError: (error: unknown) => void;
  /** The records before `next` are durable. */
  onStored: (topic: string, next: number) => void;
}

/**
 * Appends to the topics of ingest. Its commits wait for no other role, if the others use a log of the part `others` in another thread, which
 * reads these topics and writes all the rest. Open this one first.
 */
export class IngestLog {
  readonly #environment: Environment;
  readonly #commits: GroupCommit;
  readonly #upkeep: IdUpkeep;
  readonly #topics: ReadonlyMap<string, Topic>;

  static async open(settings: IngestLogSettings): Promise<IngestLog> {
    const environment = openEnvironment(settings);
    const meta = environment.store('meta');
    if (settings.topics.every((name) => meta.get(metaKeys.topic(name)) !== undefined)) return new IngestLog(settings, environment);
    await environment.close();
    const log = await LmdbLog.open(settings);
    await log.create(settings.topics);
    await log.close();
    return new IngestLog(settings, openEnvironment(settings));
  }

  private constructor({ dedupWindowMs, clock, topics, onError, onStored }: IngestLogSettings, environment: Environment) {
    this.#environment = environment;
    const [records, meta] = [environment.store('records'), environment.store('meta')];
    this.#topics = new Map(
      topics.map((name) => {
        const stored = meta.get(metaKeys.topic(name))!;
        return [name, new Topic(records, name, readU32(stored, 0), stored.readDoubleBE(4), true)];
      }),
    );
    let time: SteadyTime | undefined;
    const ids = new KnownIds(environment, dedupWindowMs, () => time!.steady(), 'ingest');
    time = new SteadyTime(clock, ids.lastKnownTime);
    const arenas = new ArenaPool();
    this.#commits = new GroupCommit({
      environment,
      records,
      meta,
      retries: environment.store('retries'),
      ids,
      tails: new TailCache(arenas),
      arenas,
      topic: (name) => this.#topic(name),
      stamp: () => time.stamp(),
      onStored: ({ name, next }) => onStored(name, next),
    });
    this.#upkeep = new IdUpkeep({ ids, isAvailable: () => this.available, write: (prepare) => this.#commits.write(prepare), onError });
  }

  get available(): boolean {
    return this.#commits.available;
  }

  append(appends: Append[]): Promise<AppendResult[]> {
    return this.#commits.append(appends);
  }

  #topic(name: string): Topic {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw new Error(`${name} is no topic of ingest`);
    return topic;
  }

  async close(): Promise<void> {
    await this.#upkeep.stop();
    await this.#commits.close();
    await this.#upkeep.save();
    await this.#environment.close();
  }
}
