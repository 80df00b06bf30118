/** Tracks everything that a fault starts and stops it, however the fault ends. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { startNats, startPostgres, type TestServer } from '../../../packages/server/test/servers/index.ts';
import { type Client, pipelineTo, signIn } from '../../harness/client.ts';
import { type Receiver, startReceiver } from '../../harness/receiver.ts';
import { type Service, type StartOptions, startService } from '../../harness/service.ts';
import { Sink } from './sink.ts';

export type Mode = 'quick' | 'normal' | 'full';

export class Scope {
  readonly mode: Mode;
  readonly #ends: (() => Promise<unknown> | unknown)[] = [];
  readonly #services = new Set<Service>();
  #postgres: Promise<TestServer> | undefined;

  constructor(mode: Mode) {
    this.mode = mode;
    // Last resort: an aborted fault must not leave the service running.
    process.once('exit', () => {
      for (const { pid } of this.#services) if (pid !== undefined) process.kill(pid, 'SIGKILL');
    });
  }
  /** A volume or duration, by mode. */
  by<T>(quick: T, normal: T, full: T = normal): T {
    return { quick, normal, full }[this.mode];
  }
  defer(end: () => Promise<unknown> | unknown): void {
    this.#ends.push(end);
  }
  async close(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    this.#postgres = undefined;
  }

  async service(env: Record<string, string> = {}, options: StartOptions = {}): Promise<Service> {
    const postgresUrl = options.servers ? (options.postgresUrl ?? (await this.postgres()).url) : undefined;
    const service = await startService(env, { servers: false, ...options, ...(postgresUrl ? { postgresUrl } : {}) });
    return this.keep(service);
  }
  keep(service: Service): Service {
    this.#services.add(service);
    this.defer(async () => {
      await service.stop();
      this.#services.delete(service);
    });
    return service;
  }
  /** One server for the whole fault. It flushes commits, because some faults kill it. */
  postgres(): Promise<TestServer> {
    this.#postgres ??= startPostgres({ durable: true }).then((server) => {
      this.defer(() => server.stop());
      return server;
    });
    return this.#postgres;
  }
  async nats(): Promise<TestServer> {
    const server = await startNats();
    this.defer(() => server.stop());
    return server;
  }
  async receiver(): Promise<Receiver> {
    const receiver = await startReceiver();
    this.defer(() => receiver.close());
    return receiver;
  }
  /** A receiver in its own process, for large volumes. */
  async sink(options: { delayMs?: number } = {}): Promise<Sink> {
    const sink = await Sink.start(options);
    this.defer(() => sink.close());
    return sink;
  }
  child(file: string, args: string[] = []): ChildProcess {
    const child = fork(join(import.meta.dirname, file), args, { serialization: 'advanced' });
    this.defer(() => child.kill('SIGKILL'));
    return child;
  }
  /** A pipeline without a rate limit, and a webhook integration to `url`. */
  async pipeline(service: Service, url: string, config: Record<string, unknown> = {}, client?: Client) {
    const signedIn = client ?? (await signIn(service));
    const made = await pipelineTo(signedIn, url, { pipeline: { rate_limit_rps: 1_000_000 }, config });
    return { ...made, client: signedIn };
  }
}
