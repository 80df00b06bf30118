import { createHmac } from 'node:crypto';
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

/** Destinations inside the network, saved in production mode. Every one is refused. */
export const addresses: Runner = {
  name: 'addresses',
  async run({ client }, rounds, note) {
    for (const _round of rounds)
      for (const url of corpus<string>('ssrf-addresses')) {
        const { status } = await client.call('POST', '/integration-templates', { name: 'Inside', vendor: 'webhook', config: { url } });
        note(url, status, status === 422);
      }
  },
};
