import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, findProgram, runToEnd, startServer, type TestServer } from './process.ts';

export const MQTT_PASSWORD = 'right';

/** A mosquitto with the user `writer`, which refuses packets above 500 KB. */
export function startMosquitto(): Promise<TestServer> {
  const folders = ['/usr/sbin', '/usr/local/sbin'];
  const program = findProgram('mosquitto', folders);
  const passwords = findProgram('mosquitto_passwd', folders);
  if (!program || !passwords) throw new Error('mosquitto is not installed (Debian: apt-get install mosquitto)');
  return startServer({
    name: 'mosquitto',
    prepare: async (directory) => {
      const file = join(directory, 'passwords');
      await runToEnd([passwords, '-b', '-c', file, 'writer', MQTT_PASSWORD]);
      chmodSync(file, 0o600);
    },
    command: (directory, port) => {
      const file = join(directory, 'mosquitto.conf');
      const settings = [
        `listener ${port} 127.0.0.1`,
        'allow_anonymous false',
        `password_file ${join(directory, 'passwords')}`,
        'persistence true',
        `persistence_location ${directory}/`,
        'max_packet_size 500000',
        'max_queued_messages 0',
        'max_inflight_messages 0',
        ...(process.getuid?.() === 0 ? ['user root'] : []),
      ];
      writeFileSync(file, `${settings.join('\n')}\n`);
      return [program, '-c', file];
    },
    url: (port) => `mqtt://127.0.0.1:${port}`,
    ready: (port) => answers(port, CONNECT, [' ']),
    endSignal: 'SIGTERM',
  });
}

// A CONNECT of MQTT 3.1.1 without credentials: the broker answers with a CONNACK (0x20), whatever it says.
const CONNECT = Buffer.from([0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 10, 0, 1, 0x78]);
