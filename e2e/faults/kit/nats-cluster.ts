/** A cluster of three nats-servers on loopback. */

import { freePort } from '../../../packages/server/test/servers/index.ts';
import { answers, findProgram, startServer, type TestServer } from '../../../packages/server/test/servers/process.ts';

export async function startNatsCluster(): Promise<TestServer[]> {
  const program = findProgram('nats-server', ['/usr/sbin', '/usr/local/bin', '/usr/bin'])!;
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(',');
  return await Promise.all(
    ports.map((clusterPort, index) =>
      startServer({
        name: `nats-${index}`,
        command: (directory, port) => [
          ...[program, '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory, '-n', `n${index}`],
          ...['--cluster_name', 'faults', '--cluster', `nats://127.0.0.1:${clusterPort}`, '--routes', routes],
        ],
        url: (port) => `nats://127.0.0.1:${port}`,
        ready: (port) => answers(port, undefined, ['INFO ']),
        endSignal: 'SIGTERM',
      }),
    ),
  );
}
