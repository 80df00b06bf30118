/**
 * Messages for an MQTT 5 broker with QoS 1: delivered means that the broker acknowledged it. The event log is the store of
 * unacknowledged messages, so the session is clean and the client never resends by itself. MQTT has no deduplication.
 */
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { connect, type IConnackPacket, type MqttClient } from 'mqtt';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { errorText } from '../runtime/error-text.ts';
import { randomText } from '../runtime/ids.ts';
import { jsonBytes } from './json-bytes.ts';
import { LazyClient, tlsOptions, verdictOfAll, within } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

const CONNECT_MS = 10_000;
/** Of a broker that states none. */
const RECEIVE_MAXIMUM = 65_535;
const SCHEMES = new Set(['mqtt:', 'mqtts:', 'ws:', 'wss:']);
/** A name without wildcards. The broker ends the connection at one with them. */
const TOPIC = /^[^+#\0]{1,65535}$/;
/** Reason codes of a PUBACK that concern this message: topic invalid, packet too large, payload format. */
const OF_THIS_MESSAGE = new Set([0x90, 0x95, 0x99]);

/** `url`, `username`, `password`, `client_id`, `tls` for `mqtts:` and `wss:`, `ca`, …, `retain` (`true`). */
export const openMqtt: OpenTransport = (connection, options) => {
  const guard = new SocketGuard(options);
  const retain = connection.retain === 'true';
  const client = new LazyClient<Client>(
    async () => {
      const opened = await guard.run(() => connectMqtt(connection, retain));
      // Unacknowledged publishes are rejected when the client ends.
      opened.mqtt.once('close', () => client.discard());
      return opened;
    },
    ({ mqtt }) => mqtt.endAsync(true),
  );

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      try {
        const opened = await client.use(deadline);
        const sent = records.map((record) => opened.inFlight.run(() => publish(opened, record, retain)));
        return verdictOfAll(await within(Promise.all(sent), deadline));
      } catch (error) {
        client.discard();
        return guard.refused
          ? { kind: 'refused', reason: guard.refused.message }
          : { kind: 'unavailable', reason: `mqtt: ${errorText(error)}` };
      }
    },
    close: () => client.close(),
  };
};

interface Client {
  mqtt: MqttClient;
  /** The broker ends the connection at a larger one. */
  largestPacket: number;
  /** Publishes that wait for their acknowledgement. The broker ends the connection at too many, and the library does not count them. */
  inFlight: Window;
}

/** Runs work in the order of its calls, so much at once. */
class Window {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  constructor(size: number) {
    this.#free = size;
  }
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
/** Of the fixed header and the properties, generously; the topic comes on top. */
const PACKET_OVERHEAD = 512;

async function publish(
  { mqtt, largestPacket }: Client,
  record: TransportRecord,
  retain: boolean,
): Promise<Exclude<Verdict, { kind: 'partial' }>> {
  const { event_id, target } = record;
  if (!TOPIC.test(target)) return { kind: 'refused', reason: `${JSON.stringify(target)} is not a topic name` };
  const payload = jsonBytes(record);
  if (payload.length + Buffer.byteLength(target) + PACKET_OVERHEAD > largestPacket)
    return { kind: 'refused', reason: `mqtt: the message has more than ${largestPacket} bytes` };
  try {
    await mqtt.publishAsync(target, payload, {
      qos: 1,
      retain,
      properties: { contentType: 'application/json', userProperties: { event_id } },
    });
    return { kind: 'delivered' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? Number(error.code) : 0;
    const reason = `mqtt: ${errorText(error)}`;
    return { kind: OF_THIS_MESSAGE.has(code) || /Invalid topic/i.test(reason) ? 'refused' : 'unavailable', reason };
  }
}

async function connectMqtt(connection: Readonly<Record<string, string>>, retain: boolean): Promise<Client> {
  const url = new URL(connection.url ?? '');
  if (!SCHEMES.has(url.protocol)) throw new Error('the URL must begin with mqtt://, mqtts://, ws:// or wss://');
  const username = connection.username || decodeURIComponent(url.username);
  const password = connection.password || decodeURIComponent(url.password);
  const mqtt = connect(`${url.protocol}//${url.host}${url.protocol.startsWith('ws') ? url.pathname : ''}`, {
    protocolVersion: 5,
    clientId: connection.client_id || `firsthand-${randomText(12)}`,
    clean: true,
    reconnectPeriod: 0,
    connectTimeout: CONNECT_MS,
    queueQoSZero: false,
    ...(username ? { username, password } : {}),
    ...tlsOptions(connection),
  });
  const refused = Promise.withResolvers<never>();
  mqtt.on('error', refused.reject);
  mqtt.once('close', () => refused.reject(new Error('the broker closed the connection')));
  refused.promise.catch(() => undefined);
  const connected = new Promise<IConnackPacket['properties']>((resolve) => {
    mqtt.once('connect', ({ properties }) => resolve(properties));
  });
  try {
    const limits = (await Promise.race([connected, refused.promise])) ?? {};
    if (limits.maximumQoS === 0) throw new Error('the broker takes no messages with QoS 1');
    if (retain && limits.retainAvailable === false) throw new Error('the broker keeps no retained messages');
    return {
      mqtt,
      largestPacket: limits.maximumPacketSize ?? Number.POSITIVE_INFINITY,
      inFlight: new Window(limits.receiveMaximum ?? RECEIVE_MAXIMUM),
    };
  } catch (error) {
    mqtt.end(true);
    throw error;
  }
}
