/**
 * Messages for an MQTT 5 broker with QoS 1: delivered means that the broker acknowledged it. The event log is the store of
 * unacknowledged messages, so the session is clean and the client never resends by itself. MQTT has no deduplication.
 */
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { connectAsync, type MqttClient } from 'mqtt';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { errorText } from '../runtime/error-text.ts';
import { chance } from '../runtime/ids.ts';
import { LazyClient, tlsOptions, verdictOfAll, within } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

const CONNECT_MS = 10_000;
const SCHEMES = new Set(['mqtt:', 'mqtts:', 'ws:', 'wss:']);
/** Reason codes of a PUBACK that concern this message: topic invalid, packet too large, payload format. */
const OF_THIS_MESSAGE = new Set([0x90, 0x95, 0x99]);

/** `url`, `username`, `password`, `client_id`, `tls` for `mqtts:` and `wss:`, `ca`, …, `retain` (`true`). */
export const openMqtt: OpenTransport = (connection, options) => {
  const guard = new SocketGuard(options);
  const client = new LazyClient<MqttClient>(
    async () => {
      const opened = await guard.run(() => connectMqtt(connection));
      opened.on('error', () => undefined);
      // Unacknowledged publishes are rejected when the client ends.
      opened.once('close', () => client.discard());
      return opened;
    },
    (opened) => opened.endAsync(true),
  );

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      try {
        const mqtt = await client.use(deadline);
        const retain = connection.retain === 'true';
        return verdictOfAll(await within(Promise.all(records.map((record) => publish(mqtt, record, retain))), deadline));
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

async function publish(
  mqtt: MqttClient,
  { event_id, target, values }: TransportRecord,
  retain: boolean,
): Promise<Exclude<Verdict, { kind: 'partial' }>> {
  try {
    await mqtt.publishAsync(target, JSON.stringify(values), {
      qos: 1,
      retain,
      properties: { contentType: 'application/json', userProperties: { event_id } },
    });
    return { kind: 'delivered' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? Number(error.code) : 0;
    const reason = `mqtt: ${errorText(error)}`;
    const permanent = OF_THIS_MESSAGE.has(code) || /exceeding packets size|Invalid topic/i.test(reason);
    return { kind: permanent ? 'refused' : 'unavailable', reason };
  }
}

function connectMqtt(connection: Readonly<Record<string, string>>): Promise<MqttClient> {
  const url = new URL(connection.url ?? '');
  if (!SCHEMES.has(url.protocol)) throw new Error('the URL must begin with mqtt://, mqtts://, ws:// or wss://');
  const username = connection.username || decodeURIComponent(url.username);
  const password = connection.password || decodeURIComponent(url.password);
  return connectAsync(
    `${url.protocol}//${url.host}${url.protocol.startsWith('ws') ? url.pathname : ''}`,
    {
      protocolVersion: 5,
      clientId: connection.client_id || `firsthand-${chance(12)}`,
      clean: true,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_MS,
      queueQoSZero: false,
      ...(username ? { username, password } : {}),
      ...tlsOptions(connection),
    },
    false,
  );
}
