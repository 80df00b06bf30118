import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { corpus, type Named } from '../corpus.ts';
import type { Runner } from '../target.ts';

interface Forgery extends Named {
  header?: object | 'kept';
  payload?: object;
  signature: string;
}
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Forged access tokens. Every one is answered 401. */
export const tokens: Runner = {
  name: 'tokens',
  async run({ service, client }, rounds, note) {
    const [head = '', payload = '', signature = ''] = client.token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    for (const round of rounds)
      for (const forgery of corpus<Forgery>('jwt-forgeries')) {
        const first = forgery.header === undefined || forgery.header === 'kept' ? head : encode(forgery.header);
        const second = forgery.payload === undefined ? payload : encode({ ...claims, ...forgery.payload });
        const sign = (key: string) => createHmac('sha256', key).update(`${first}.${second}`).digest('base64url');
        const third = {
          kept: signature,
          'empty-key': sign(''),
          'foreign-key': sign(`key-${round}`),
          padded: `${signature}=`,
          'four-parts': `${signature}.${signature}`,
        }[forgery.signature];
        const token = `${first}.${second}.${third ?? forgery.signature}`;
        const { status } = await fetch(`${service.url}/v1/admin/pipelines`, { headers: { authorization: `Bearer ${token}` } });
        note(forgery.name, status, status === 401);
      }
  },
};

/** Vendors that are not sent to by HTTP, at an address inside the network. */
const INSIDE: readonly [vendor: string, config: (host: string, port: number) => object][] = [
  ['postgresql', (host, port) => ({ url: `postgres://writer:secret@${host}:${port}/events` })],
  ['mysql', (host, port) => ({ host, port, username: 'writer', password: 'secret', database: 'events' })],
  ['clickhouse', (host, port) => ({ url: `https://${host}:${port}`, database: 'events', username: 'writer' })],
  ['kafka', (host, port) => ({ brokers: `${host}:${port}` })],
  ['rabbitmq', (host, port) => ({ url: `amqp://${host}:${port}/` })],
  ['mqtt', (host, port) => ({ url: `mqtt://${host}:${port}` })],
  ['nats', (host, port) => ({ url: `nats://${host}:${port}` })],
  ['redis', (host, port) => ({ url: `redis://${host}:${port}/0` })],
  [
    'sftp',
    (host, port) => ({
      host,
      port,
      username: 'writer',
      authentication: 'password',
      password: 'secret',
      host_key: `SHA256:${'a'.repeat(43)}`,
    }),
  ],
];
const event = { type: 'track', event: 'Order Completed' };

/** Destinations inside the network, saved and tested in production mode. Every one is refused, and nothing connects to it. */
export const addresses: Runner = {
  name: 'addresses',
  async run({ client }, rounds, note) {
    const urls = corpus<string>('ssrf-addresses');
    const parameters = Object.fromEntries(urls.map((url, i) => [`URL_${i}`, url]));
    const { body: pipeline } = await client.call('POST', '/pipelines', { name: 'Inside', parameters });
    let connections = 0;
    const listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const test = (vendor: string, body: object) => client.call('POST', `/integration-catalog/${vendor}/test`, { event, ...body });
    for (const _round of rounds) {
      for (const [i, url] of urls.entries()) {
        const { status } = await client.call('POST', '/integration-templates', { name: 'Inside', vendor: 'webhook', config: { url } });
        note(url, status, status === 422);
        const tested = await test('webhook', { config: { url } });
        note(`test of ${url}`, tested.status, tested.status === 422);
        const byParameter = await test('webhook', { config: { url: `{{pipeline_param.URL_${i}}}` }, pipeline_id: pipeline.id });
        note(`test of ${url} by a parameter`, byParameter.status, byParameter.status === 422);
      }
      for (const [vendor, config] of INSIDE)
        for (const host of ['127.0.0.1', 'localhost']) {
          const before = connections;
          const { status, body } = await test(vendor, { config: config(host, port) });
          const refused = status === 422 || (status === 200 && body.status === null);
          note(`test of ${vendor} at ${host}`, status, refused && connections === before);
        }
    }
    listener.close();
  },
};
