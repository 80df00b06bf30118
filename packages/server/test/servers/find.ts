import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram, postgresFolders } from './process.ts';

export const findPostgres = () => findProgram('postgres', postgresFolders());
/** Where `scripts/nats-server.ts` puts the current release. */
export const NATS_FOLDER = join(import.meta.dirname, '../../../../node_modules/.cache/nats-server');
/** The downloaded release, else that of the system if the service supports it: Debian's is too old. */
export function findNats(): string | undefined {
  const program = findProgram('nats-server', ['/usr/sbin', '/usr/local/sbin'], [NATS_FOLDER]);
  if (program === undefined || program.startsWith(NATS_FOLDER)) return program;
  const [, minor] = /v2\.(\d+)\./.exec(execFileSync(program, ['--version']).toString()) ?? [];
  return Number(minor) >= OLDEST_NATS_MINOR ? program : undefined;
}
const OLDEST_NATS_MINOR = 11;
export const findSshd = () => findProgram('sshd', ['/usr/sbin', '/usr/local/sbin']);
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/**
 * `browser` is what visitors use. `shell` is Chromium's headless shell, if there is one: the same engine without windows and profiles. It needs
 * a fifth less processor time.
 */
const CHROMIUM = { browser: BROWSERS, shell: ['chromium-headless-shell', ...BROWSERS] };
export type Chromium = keyof typeof CHROMIUM;
export function findChromium(program: Chromium = 'browser'): string | undefined {
  return process.env.CHROMIUM_PATH ?? CHROMIUM[program].map((name) => findProgram(name)).find((path) => path !== undefined);
}
export const findRedis = () => findProgram('redis-server');
/** The servers of unit and integration tests, named as their packages in Debian. Tests that need one have its name as their tag. */
const SERVERS = { postgresql: findPostgres, 'nats-server': findNats, 'openssh-server': findSshd, 'redis-server': findRedis };
export const SERVER_NAMES = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
export const missingServers = () => SERVER_NAMES.filter((name) => SERVERS[name]() === undefined);
export const findMosquitto = () => findProgram('mosquitto', ['/usr/sbin', '/usr/local/sbin']);
export const findRabbitmq = () => findProgram('rabbitmq-server', ['/usr/sbin']);
