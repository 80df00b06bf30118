import { answers, findProgram, startServer, type TestServer } from './process.ts';

/** A redis-server that keeps every acknowledged write across `kill -9`, and refuses values above 1 MB. */
export function startRedis(): Promise<TestServer> {
  const program = findProgram('redis-server');
  if (!program) throw new Error('redis-server is not installed (Debian: apt-get install redis-server)');
  const settings = { bind: '127.0.0.1', save: '', appendonly: 'yes', appendfsync: 'always', 'proto-max-bulk-len': '1mb' };
  return startServer({
    name: 'redis',
    command: (directory, port) => [
      program,
      '--port',
      String(port),
      '--dir',
      directory,
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    url: (port) => `redis://127.0.0.1:${port}`,
    ready: (port) => answers(port, Buffer.from('PING\r\n'), ['+PONG']),
    endSignal: 'SIGTERM',
  });
}
