import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe } from 'vitest';
import { findMosquitto } from '../../test/servers/find.ts';
import { MQTT_PASSWORD, startMosquitto, type TestServer } from '../../test/servers/index.ts';
import { openMqtt } from './mqtt.ts';
import { testKills } from './testing/kills.ts';
import { describeStream } from './testing/streams.ts';

describe.skipIf(!findMosquitto())(`MQTT${findMosquitto() ? '' : ' (mosquitto is not installed: left out)'}`, () => {
  let server: TestServer;
  let subscriber: MqttClient;
  const received: { topic: string; event_id: string; values: unknown }[] = [];
  const login = { username: 'writer', password: MQTT_PASSWORD };
  beforeAll(async () => {
    server = await startMosquitto();
    // A session that outlives a restart of the broker.
    const properties = { sessionExpiryInterval: 3_600 };
    subscriber = await connectAsync(server.url, {
      protocolVersion: 5,
      clientId: 'reader',
      clean: false,
      properties,
      reconnectPeriod: 100,
      ...login,
    });
    subscriber.on('error', () => undefined);
    subscriber.on('message', (topic, payload, { properties }) => {
      received.push({ topic, event_id: String(properties?.userProperties?.event_id), values: JSON.parse(payload.toString()) });
    });
    await subscriber.subscribeAsync('#', { qos: 1 });
  });
  afterAll(async () => {
    await subscriber.endAsync(true);
    await server.stop();
  });
  const of = (topic: string) => received.filter((message) => message.topic === topic);
  let topics = 0;

  describeStream('MQTT', () => ({
    open: openMqtt,
    server,
    connection: { url: server.url, ...login },
    wrongCredentials: { url: server.url, username: 'writer', password: 'wrong' },
    nobody: { url: 'mqtt://127.0.0.1:1' },
    freshTarget: async () => `events/${++topics}`,
    stored: async (topic) => {
      // Everything acknowledged before this message has been passed on when it comes back.
      const end = `end/${++topics}`;
      await subscriber.publishAsync(end, '{}', { qos: 1 });
      while (of(end).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      return of(topic).map(({ event_id, values }) => ({ event_id, values }));
    },
    once: false,
    survivesKill: false,
  }));

  testKills('MQTT', async () => ({
    vendor: 'mqtt',
    config: { url: server.url, ...login, topic: 'killed' },
    count: async () => of('killed').length,
    eventIds: async () => of('killed').map(({ event_id }) => event_id),
    exactlyOnce: false,
  }));
});
