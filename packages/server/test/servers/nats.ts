import { answers, findProgram, startServer, type TestServer } from './process.ts';

/** A nats-server with JetStream on a free port. */
export function startNats(): Promise<TestServer> {
  const program = findProgram('nats-server', ['/usr/sbin', '/usr/local/bin', '/usr/bin']);
  if (!program) throw new Error('nats-server is not installed (Debian: apt-get install nats-server)');
  return startServer({
    name: 'nats',
    command: (directory, port) => [program, '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory],
    url: (port) => `nats://127.0.0.1:${port}`,
    ready: (port) => answers(port, undefined, ['INFO ']),
    endSignal: 'SIGTERM',
  });
}
