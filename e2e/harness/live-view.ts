import { WebSocket } from 'ws';
import type { Loose } from './client.ts';
import type { Service } from './service.ts';

export interface Watch {
  /** Everything received so far. */
  frames: Loose[];
  opened: Promise<unknown>;
  /** The code that the service closed the socket with. */
  closed: Promise<number>;
  say(message: object): void;
  end(): void;
}

/** Opens the live debugger's socket. The query holds the token and filters. */
export function watch(service: Pick<Service, 'url'>, query: string): Watch {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/admin/debug/live${query}`);
  const frames: Loose[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data)) as Loose));
  return {
    frames,
    opened: new Promise((resolve) => socket.on('open', resolve)),
    closed: new Promise((resolve) => socket.on('close', resolve)),
    say: (message) => socket.send(JSON.stringify(message)),
    end: () => socket.terminate(),
  };
}
