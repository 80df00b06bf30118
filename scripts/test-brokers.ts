/**
 * `npm run test:brokers`: drivers and sources against real brokers and databases that take long to start. Kafka comes from Maven, ClickHouse's
 * engine from PyPI (`chdb`), the others from the PATH; on Debian as root what is missing is installed. A broker that cannot be had is named, and fails the run under CI=true.
 */
import { existsSync } from 'node:fs';
import { findChdb } from '../packages/server/test/servers/clickhouse.ts';
import { findMosquitto, findRabbitmq } from '../packages/server/test/servers/find.ts';
import { canHaveKafka } from '../packages/server/test/servers/kafka.ts';
import { findMariadb } from '../packages/server/test/servers/mariadb.ts';
import { run, step } from './run.ts';

const missing = () => [
  ...(findRabbitmq() ? [] : ['rabbitmq-server']),
  ...(findMosquitto() ? [] : ['mosquitto']),
  ...(findMariadb() ? [] : ['mariadb-server']),
  ...(canHaveKafka() ? [] : ['default-jre-headless', 'maven']),
];

if (missing().length > 0 && existsSync('/etc/debian_version') && process.getuid?.() === 0) {
  console.log(`installing ${missing().join(', ')} with apt-get`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], env);
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing()], env);
}
await step('drivers and sources against real brokers', 'vitest', ['run', '--project', 'brokers']);

// ClickHouse's engine is a Python package: `pip install chdb`, and CHDB_PYTHON names that Python.
const absent = [...missing(), ...(findChdb() ? [] : ['chdb'])];
if (absent.length > 0) {
  console.error(`\nLeft out, because it is not installed: ${absent.join(', ')}.`);
  if (process.env.CI === 'true') process.exit(1);
}
