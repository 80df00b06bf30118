/**
 * `firsthand demo`: a shop with live traffic. Starts its own service under DATA_DIR, or uses the one at `--url`. Sets up the shop once,
 * starts a local receiver for its vendors, and simulates visitors until it is stopped.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdminClient } from '../demo/admin-client.ts';
import { startReceiver } from '../demo/receiver.ts';
import { openShop } from '../demo/shop.ts';
import { sendStep, visit } from '../demo/visitors.ts';
import { CommandError } from '../failure.ts';
import { readOptions } from '../options.ts';

const OWNER = { email: 'demo@localhost', password: 'demo-password' };
const READY_WITHIN_MS = 60_000;

export async function demo(args: string[]): Promise<void> {
  const options = readOptions(args, { required: [], optional: ['url', 'email', 'password', 'rate', 'port'] });
  const rate = Number(options.rate ?? '6');
  if (!(rate > 0 && rate <= 1_000)) throw new CommandError('--rate: must be a number of events per second, up to 1000.');
  if (options.url !== undefined && !/^https?:$/.test(URL.parse(options.url)?.protocol ?? ''))
    throw new CommandError('--url: must be an http or https address.');
  if (options.port !== undefined && !(/^\d+$/.test(options.port) && Number(options.port) > 0 && Number(options.port) < 65_536))
    throw new CommandError('--port: must be a port from 1 to 65535.');
  const stopping = new AbortController();
  const port = options.port ?? process.env.PORT ?? '8080';
  const base = options.url?.replace(/\/$/, '') ?? `http://localhost:${port}`;
  if (options.url === undefined && (await answers(base)))
    throw new CommandError(`Port ${port} is in use: choose another with --port, or name the running service with --url.`);
  const own = options.url === undefined ? startService(port) : undefined;
  const owner = { email: options.email ?? OWNER.email, password: options.password ?? OWNER.password };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  own?.once('exit', () => stopping.abort());
  let receiver: Awaited<ReturnType<typeof startReceiver>> | undefined;
  try {
    await ready(base, stopping.signal);
    receiver = await startReceiver();
    const shop = await openShop(new AdminClient(base, owner.email, owner.password), receiver.url);
    process.stdout.write(
      `\nThe demo shop is open: about ${rate} events per second, six vendors at ${receiver.url}.\n\n` +
        `  Console   ${base}/\n  E-mail    ${owner.email}\n  Password  ${owner.password}\n\nCtrl-C stops it.\n`,
    );
    await browse({ base, ...shop }, rate, stopping.signal);
  } finally {
    receiver?.server.closeAllConnections();
    receiver?.server.close();
    await stopService(own);
  }
}

/** Keeps enough visits running for about `rate` events per second. */
async function browse(target: Parameters<typeof sendStep>[0], rate: number, signal: AbortSignal): Promise<void> {
  const queue: ReturnType<typeof visit>[] = [];
  while (!signal.aborted) {
    // Several visitors are in the shop at once and take their steps in turn.
    while (queue.length < Math.max(4, rate * 2)) queue.push(visit(Math.random));
    const steps = queue.shift();
    const step = steps?.shift();
    if (step !== undefined)
      sendStep(target, step).catch((error: unknown) => {
        if (!signal.aborted)
          process.stderr.write(`an event could not be sent: ${error instanceof Error ? error.message : String(error)}\n`);
      });
    if (steps !== undefined && steps.length > 0) queue.push(steps);
    await sleep((500 + Math.random() * 1_000) / rate, undefined, { signal }).catch(() => undefined);
  }
}

function startService(port: string): ChildProcess {
  const env = {
    ...process.env,
    PORT: port,
    DATA_DIR: process.env.DATA_DIR ?? './data/demo',
    OWNER_EMAIL: OWNER.email,
    OWNER_PASSWORD: OWNER.password,
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
  };
  return spawn(process.execPath, [join(import.meta.dirname, '../firsthand.js'), 'start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
}
async function stopService(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
function answers(base: string): Promise<Response | undefined> {
  return fetch(`${base}/readyz`).catch(() => undefined);
}
async function ready(base: string, signal: AbortSignal): Promise<void> {
  const end = Date.now() + READY_WITHIN_MS;
  while (Date.now() < end && !signal.aborted) {
    if ((await answers(base))?.ok) return;
    await sleep(200);
  }
  throw new CommandError(`No service is ready at ${base}.`);
}
