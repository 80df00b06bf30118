/** Kysely on top of `ReadThread`: queries look like any other, and run in the thread. Inside the thread they run at once. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type LimitNode,
  type OffsetNode,
  type OperationNode,
  type QueryCompiler,
  type QueryResult,
  type SqliteDatabase,
  SqliteDialect,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely';
import type { ReadThread } from './read-thread.ts';
import type { ObserveDb } from './schema.ts';

/** Inside the thread. */
export function observeHere(database: SqliteDatabase): ObserveDb {
  return { db: new Kysely({ dialect: new LiteralLimitsDialect({ database }) }), engine: 'sqlite' };
}

class LiteralLimitsDialect extends SqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new LiteralLimits();
  }
}
export class ThreadDialect extends LiteralLimitsDialect {
  readonly #thread: ReadThread;
  constructor(thread: ReadThread) {
    super({
      database: async () => {
        throw new Error('the dialect has its own driver');
      },
    });
    this.#thread = thread;
  }
  override createDriver(): Driver {
    return new ThreadDriver(this.#thread);
  }
}

/** SQLite prepares a statement with `limit ?` again for every run, because its plan depends on the number: milliseconds over all segments. */
class LiteralLimits extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ');
    this.#appendNumber(limit);
  }
  protected override visitOffset({ offset }: OffsetNode): void {
    this.append('offset ');
    this.#appendNumber(offset);
  }
  #appendNumber(node: OperationNode): void {
    if (ValueNode.is(node) && Number.isSafeInteger(node.value)) this.append(String(node.value));
    else this.visitNode(node);
  }
}

class ThreadDriver implements Driver {
  readonly #thread: ReadThread;
  /** One transaction at a time: there is one connection for them. */
  #lastTransaction: Promise<void> = Promise.resolve();

  constructor(thread: ReadThread) {
    this.#thread = thread;
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<ThreadConnection> {
    return new ThreadConnection(this.#thread);
  }
  async beginTransaction(connection: ThreadConnection): Promise<void> {
    const before = this.#lastTransaction;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastTransaction = promise;
    connection.end = resolve;
    await before;
    connection.inTransaction = true;
    // Take the write lock now: upgrading a read lock later could only fail.
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
  async commitTransaction(connection: ThreadConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }
  async rollbackTransaction(connection: ThreadConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
  async releaseConnection(connection: ThreadConnection): Promise<void> {
    connection.inTransaction = false;
    connection.end();
  }
  destroy(): Promise<void> {
    return this.#thread.close();
  }
}

class ThreadConnection implements DatabaseConnection {
  readonly #thread: ReadThread;
  inTransaction = false;
  /** Lets the next transaction begin. */
  end: () => void = () => {};

  constructor(thread: ReadThread) {
    this.#thread = thread;
  }
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const call = this.inTransaction ? 'transactionStatement' : 'statement';
    const { rows, changes } = await this.#thread.call(call, [{ sql, parameters }]);
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }
  // biome-ignore lint/correctness/useYield: part of the interface, and nothing streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the trace store does not stream');
  }
}
