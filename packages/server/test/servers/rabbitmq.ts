import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, findProgram, startServer, type TestServer } from './process.ts';

/** A RabbitMQ with the user `guest`, which refuses messages above 1 MB. It has its own port mapper, which ends with it. */
export async function startRabbitmq(): Promise<TestServer> {
  // The one on the PATH changes the user and forks; this one becomes the broker itself.
  const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';
  if (!existsSync(program)) throw new Error('rabbitmq-server is not installed (Debian: apt-get install rabbitmq-server)');
  let mapper = 0;
  const started = await startServer({
    name: 'rabbitmq',
    command: (directory, port) => {
      mapper = port + 2;
      const file = join(directory, 'rabbitmq.conf');
      writeFileSync(file, `listeners.tcp.1 = 127.0.0.1:${port}\nmax_message_size = 1000000\nlog.console = true\nlog.file = false\n`);
      const env = {
        HOME: directory,
        RABBITMQ_NODENAME: `firsthand${port}@localhost`,
        RABBITMQ_DIST_PORT: String(port + 1),
        RABBITMQ_MNESIA_BASE: join(directory, 'db'),
        RABBITMQ_LOG_BASE: join(directory, 'log'),
        RABBITMQ_CONFIG_FILE: file,
        RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'plugins'),
        ERL_EPMD_ADDRESS: '127.0.0.1',
        ERL_EPMD_PORT: String(mapper),
        RABBITMQ_ALLOW_INPUT: '1',
      };
      return ['/usr/bin/env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), program, '-noinput'];
    },
    url: (port) => `amqp://guest:guest@127.0.0.1:${port}`,
    ready: (port) => answers(port, Buffer.from('AMQP\0\0\x09\x01', 'latin1'), ['\x01']),
    endSignal: 'SIGTERM',
  });
  return {
    ...started,
    get pid() {
      return started.pid;
    },
    async stop() {
      await started.stop();
      const epmd = findProgram('epmd');
      if (epmd)
        execFileSync(epmd, ['-port', String(mapper), '-kill'], {
          stdio: 'ignore',
          env: { ...process.env, ERL_EPMD_RELAXED_COMMAND_CHECK: '1' },
        });
    },
  };
}
