/** The real program as a child process on temporary stores, used over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endingWithUs, freePort, startNats, type TestServer } from '../../packages/server/test/servers/index.ts';
import { NODE_FLAGS, START_ENV } from './start-command.ts';

const MAIN = join(import.meta.dirname, '../../packages/cli/src/firsthand.js');
export const OWNER = { email: 'owner@firsthand.test', password: 'correct-horse-battery' };
export const onServers = process.env.STORES === 'servers';

export interface Service {
  url: string;
  env: Record<string, string>;
  readonly pid: number | undefined;
  /** The output so far. */
  output(): string;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** Starts it again, with additional settings if given, or as another version (the path of its main file). */
  start(env?: Record<string, string>, program?: string): Promise<void>;
  /** Exit code and signal of the last process. Undefined while it runs. */
  ended(): { code: number | null; signal: NodeJS.Signals | null } | undefined;
  /** Starts another process on the same stores (STORES=servers only). */
  sibling(env?: Record<string, string>): Promise<Service>;
  /** Stops it and removes its stores. */
  stop(): Promise<void>;
  nats: TestServer | undefined;
  databaseUrl: string | undefined;
  dataDir: string;
}

/** Test defaults: short waits, high limits. `env` overrides them. */
const TEST_ENV = {
  HOST: '127.0.0.1',
  OWNER_EMAIL: OWNER.email,
  OWNER_PASSWORD: OWNER.password,
  ADMIN_RATE_LIMIT: '100000',
  LOGIN_RATE_LIMIT: '1000',
  RETRY_BASE: '5ms',
  CONFIG_RELOAD_INTERVAL: '1s',
  LOG_LEVEL: 'warn',
};

export interface StartOptions {
  /** PostgreSQL and NATS instead of the embedded stores. Default: STORES. */
  servers?: boolean;
  /** A folder that the caller owns and removes. */
  dataDir?: string;
  /** A NATS server that the caller owns. */
  natsUrl?: string;
  /** A PostgreSQL server that the caller owns. A database is created in it. */
  postgresUrl?: string;
  /** Main file of another version. */
  program?: string;
}

export async function startService(env: Record<string, string> = {}, options: StartOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'firsthand-e2e-'));
  const stores: Record<string, string> = { DATA_DIR: dataDir };
  const { THREADS } = process.env;
  if (THREADS !== undefined) stores.THREADS = THREADS;
  let nats: TestServer | undefined;
  let databaseUrl: string | undefined;
  if (options.servers ?? onServers) {
    if (options.natsUrl === undefined) nats = await startNats();
    databaseUrl = await createDatabase(options.postgresUrl ?? process.env.TEST_DATABASE_URL);
    Object.assign(stores, {
      NATS_URL: options.natsUrl ?? nats!.url,
      DATABASE_URL: databaseUrl,
      SECRET_KEY: 'end-to-end-secret-key-0123456789',
    });
  }
  const removeData = () => {
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  // Also if a test file ends before its clean-up.
  process.once('exit', removeData);
  const removeStores = async () => {
    await nats?.stop();
    removeData();
    process.off('exit', removeData);
  };
  try {
    const service = await spawnService({ ...TEST_ENV, ...stores, ...env }, { dataDir, nats, databaseUrl }, options.program);
    const stopProcess = service.stop;
    return Object.assign(service, {
      async stop() {
        await stopProcess();
        await removeStores();
      },
    });
  } catch (error) {
    await removeStores();
    throw error;
  }
}

async function spawnService(
  env: Record<string, string>,
  stores: Pick<Service, 'dataDir' | 'nats' | 'databaseUrl'>,
  firstProgram?: string,
): Promise<Service> {
  const port = env.PORT ?? String(await freePort());
  const full = { ...env, PORT: port };
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let last: ChildProcess | undefined;
  let output = '';
  const siblings: Service[] = [];

  async function start(more: Record<string, string> = {}, main = MAIN): Promise<void> {
    Object.assign(full, more);
    const [program, ...args] = endingWithUs([process.execPath, ...NODE_FLAGS, main, 'start']);
    const started = spawn(program!, args, {
      env: { PATH: process.env.PATH!, ...START_ENV, ...full },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    last = started;
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-200_000);
    };
    started.stdout.on('data', collect);
    started.stderr.on('data', collect);
    const deadline = performance.now() + 180_000;
    while (performance.now() < deadline) {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`the service exited while starting:\n${output}`);
      const ready = await fetch(`${url}/readyz`).then(
        (r) => r.status === 200,
        () => false,
      );
      if (ready) return;
      await sleep(25);
    }
    await end('SIGKILL');
    throw new Error(`the service did not become ready:\n${output}`);
  }
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return ending?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => ending.once('exit', resolve));
    ending.kill(signal);
    return exited;
  }
  await start({}, firstProgram);
  const service: Service = {
    url,
    env: full,
    get pid() {
      return child?.pid;
    },
    output: () => output,
    kill: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    start,
    ended: () =>
      last === undefined || (last.exitCode === null && last.signalCode === null)
        ? undefined
        : { code: last.exitCode, signal: last.signalCode },
    async sibling(more = {}) {
      const other = await spawnService({ ...env, PORT: String(await freePort()), ...more }, stores);
      siblings.push(other);
      return other;
    },
    async stop() {
      for (const other of siblings) await other.stop();
      await end('SIGKILL');
    },
    ...stores,
  };
  return service;
}

async function createDatabase(base: string | undefined): Promise<string> {
  if (!base) throw new Error('TEST_DATABASE_URL is not set: the global set-up should have started PostgreSQL');
  const name = `e2e_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: base });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(base);
  url.pathname = `/${name}`;
  return url.href;
}
