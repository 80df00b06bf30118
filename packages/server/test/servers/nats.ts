import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNats } from './find.ts';
import { answers, freePort, startServer, type TestServer } from './process.ts';

function program(): string {
  const found = findNats();
  if (!found) throw new Error('nats-server 2.11 or newer is not installed: npm test downloads it');
  return found;
}

/** A nats-server with JetStream on a free port. `config` is the text of a configuration file. */
export function startNats({ config, flags = [] }: { config?: string; flags?: string[] } = {}): Promise<TestServer> {
  const server = program();
  return startServer({
    name: 'nats',
    async prepare(directory) {
      if (config !== undefined) writeFileSync(join(directory, 'server.conf'), config, { mode: 0o600 });
    },
    command: (directory, port) => [
      server,
      ...['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory],
      ...(config === undefined ? [] : ['-c', join(directory, 'server.conf')]),
      ...flags,
    ],
    url: (port) => `nats://127.0.0.1:${port}`,
    ready: (port) => answers(port, undefined, ['INFO ']),
    endSignal: 'SIGTERM',
  });
}

/** Servers that replicate among each other. The URL lists all of them. */
export async function startNatsCluster(
  size: number,
  options: { config?: string } = {},
): Promise<{ url: string; nodes: TestServer[]; stop(): Promise<void> }> {
  const ports = await Promise.all(Array.from({ length: size }, () => freePort()));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(',');
  const nodes = await Promise.all(
    ports.map((port, i) =>
      startNats({
        ...options,
        flags: ['-n', `node-${i}`, '-cluster_name', 'test', '-cluster', `nats://127.0.0.1:${port}`, '-routes', routes],
      }),
    ),
  );
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}
