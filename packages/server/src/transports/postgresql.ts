/**
 * Rows in PostgreSQL. One statement inserts a batch; a row whose event id exists is replaced, so a repeat stores nothing twice.
 * The columns are the keys of the records; objects and lists become JSON.
 */
import { Socket } from 'node:net';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import pg from 'pg';
import { isPublicAddress, literalAddress } from '../outbound/addresses.ts';
import { DestinationRefused } from '../outbound/resolver.ts';
import { errorText } from '../runtime/error-text.ts';
import type { DriverOptions, OpenTransport } from './port.ts';

const MAX_CONNECTIONS = 4;
const IDLE_MS = 30_000;
/** The protocol counts parameters in 16 bits. */
const MAX_PARAMETERS = 65_535;
const KEY = 'event_id';

/** `url`, `ssl` (`disable`, `require`, `verify`), `create_table` (`true`). */
export const openPostgresql: OpenTransport = (connection, options) => {
  const pool = new pg.Pool({
    connectionString: connection.url,
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    ...(connection.ssl === 'disable' ? {} : { ssl: { rejectUnauthorized: connection.ssl !== 'require' } }),
    stream: () => new GuardedSocket(options),
  });
  // An idle connection that the server ends is replaced by the next query.
  pool.on('error', () => undefined);
  const created = new Set<string>();

  return {
    async send(records, { timeout_ms }) {
      const rows = latestByEvent(records);
      const deadline = performance.now() + timeout_ms;
      let client: pg.PoolClient | undefined;
      try {
        client = await connect(pool, deadline);
        const target = records[0]?.target ?? '';
        if (connection.create_table === 'true' && !created.has(target)) {
          await within(client.query(createTable(target)), deadline);
          created.add(target);
        }
        await within(insertAll(client, target, rows), deadline);
        client.release();
        return { kind: 'delivered' };
      } catch (error) {
        // The connection may be in the middle of a transaction.
        client?.release(true);
        return verdictOf(error, records.length);
      }
    },
    close: () => pool.end(),
  };
};

async function insertAll(client: pg.PoolClient, target: string, rows: TransportRecord[]): Promise<void> {
  const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values))).add(KEY)];
  const atOnce = Math.max(1, Math.floor(MAX_PARAMETERS / columns.length));
  if (rows.length > atOnce) await client.query('begin');
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = rows.slice(from, from + atOnce);
    const parameters = some.flatMap((row) => columns.map((column) => (column === KEY ? row.event_id : cellOf(row.values[column]))));
    await client.query(insert(target, columns, some.length), parameters);
  }
  if (rows.length > atOnce) await client.query('commit');
}

function insert(target: string, columns: string[], count: number): string {
  const row = (index: number) => `(${columns.map((_, column) => `$${index * columns.length + column + 1}`).join(', ')})`;
  const others = columns.filter((column) => column !== KEY).map((column) => `${quoted(column)} = excluded.${quoted(column)}`);
  return `insert into ${tableOf(target)} (${columns.map(quoted).join(', ')}) values ${Array.from({ length: count }, (_, i) => row(i)).join(', ')}
    on conflict (${quoted(KEY)}) do ${others.length === 0 ? 'nothing' : `update set ${others.join(', ')}`}`;
}

/** The columns of a canonical event. */
function createTable(target: string): string {
  return `create table if not exists ${tableOf(target)} (
    ${KEY} text primary key, type text, original_type text, event text, user_id text, anonymous_id text, group_id text,
    "timestamp" timestamptz, context jsonb, properties jsonb, traits jsonb)`;
}

/** `table` or `schema.table`. */
function tableOf(target: string): string {
  return target.split('.', 2).map(quoted).join('.');
}
function quoted(name: string): string {
  return `"${name.replaceAll('\0', '').replaceAll('"', '""')}"`;
}
function cellOf(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'object' ? JSON.stringify(value) : value;
  // Neither text nor jsonb can hold a NUL character.
  return typeof text === 'string'
    ? text
        .replaceAll('\0', '\uFFFD')
        .replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd')
        .toWellFormed()
    : text;
}

/** One statement cannot change a row twice: of two records with one event id the later counts. */
function latestByEvent(records: readonly TransportRecord[]): TransportRecord[] {
  return [...new Map(records.map((record) => [record.event_id, record])).values()];
}

/** Classes of SQLSTATE: bad data 22, constraint 23, unknown table or column and syntax 42, authorisation 28, wrong database 3D. */
const PERMANENT = /^(22|23|28|3D|42)/;
const OF_ONE_ROW = /^(22|23)/;

function verdictOf(error: unknown, count: number): Verdict {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const reason = /^[0-9A-Z]{5}$/.test(code) ? `postgresql ${code}: ${errorText(error)}` : errorText(error);
  if (code === 'DESTINATION_REFUSED' || error instanceof DestinationRefused) return { kind: 'refused', reason };
  if (OF_ONE_ROW.test(code) && count > 1) return { kind: 'unavailable', reason, isolate: true };
  return PERMANENT.test(code) ? { kind: 'refused', reason } : { kind: 'unavailable', reason };
}

/** A connection that comes too late goes back at once. */
async function connect(pool: pg.Pool, deadline: number): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  try {
    return await within(connecting, deadline);
  } catch (error) {
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  }
}

function within<T>(work: Promise<T>, deadline: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), Math.max(0, deadline - performance.now()));
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** `pg` connects by host and port; this refuses what an integration may not reach. */
class GuardedSocket extends Socket {
  readonly #options: DriverOptions;
  constructor(options: DriverOptions) {
    super();
    this.#options = options;
  }
  override connect(...args: unknown[]): this {
    const [port, host] = args;
    // A path is a Unix socket of the service's own machine.
    if (typeof port !== 'number' || typeof host !== 'string') return this.#refuse(`${String(port)} is not a host and a port`);
    const literal = literalAddress(host);
    if (literal !== undefined && !this.#options.allowPrivateDestinations && !isPublicAddress(literal))
      return this.#refuse(`${host} is not a public address`);
    return super.connect({ port, host, lookup: this.#options.lookup });
  }
  #refuse(reason: string): this {
    process.nextTick(() => this.destroy(Object.assign(new Error(reason), { code: 'DESTINATION_REFUSED' })));
    return this;
  }
}
