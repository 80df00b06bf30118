/**
 * Connections to NATS servers that ask for credentials, nkeys, TLS and client certificates.
 *
 * @module-tag nats-server
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { startNats } from '../../../test/servers/index.ts';
import { testAuthority } from '../../outbound/testing/certificates.ts';
import type { NatsSecurity } from './jetstream/connection.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-nats-security-'));
function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

async function expectWorks(config: string, scheme: 'nats' | 'tls', security: NatsSecurity): Promise<void> {
  const server = await startNats({ config });
  const connection = await connectNats(`${scheme}://localhost:${server.port}`, security);
  const log = await openJetStreamLog({ connection, dedupWindowMs: 60_000, replicas: 1 });
  onTestFinished(async () => {
    await log.close();
    await connection.close();
    await server.stop();
  });
  const [result] = await log.append([{ topic: 'secured', records: [{ id: '1', data: Buffer.from('x') }] }]);
  expect(result?.positions[0]).toBeDefined();
}

test('an nkey', async () => {
  const user = nkeys.createUser();
  const nkeyFile = file('user.nk', `${text(user.getSeed())}\n`);
  await expectWorks(`authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`, 'nats', { nkeyFile });
});

test('a credentials file of an account', async () => {
  const [operator, system, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount(), nkeys.createUser()];
  const claim = (issuer: nkeys.KeyPair, subject: nkeys.KeyPair, name: string, nats: object) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = {
      jti: name,
      iat: 1_700_000_000,
      iss: issuer.getPublicKey(),
      sub: subject.getPublicKey(),
      name,
      nats: { version: 2, ...nats },
    };
    const signed = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`;
    return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
  };
  const unlimited = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const accountJwt = (pair: nkeys.KeyPair, name: string, limits: object) =>
    claim(operator, pair, name, { type: 'account', limits, default_permissions: { pub: {}, sub: {} } });
  const config = `
operator: ${claim(operator, operator, 'operator', { type: 'operator' })}
system_account: ${system.getPublicKey()}
resolver: MEMORY
resolver_preload: {
  ${system.getPublicKey()}: ${accountJwt(system, 'SYS', unlimited)}
  ${account.getPublicKey()}: ${accountJwt(account, 'shop', { ...unlimited, ...storage })}
}`;
  const userJwt = claim(account, user, 'firsthand', { type: 'user', pub: {}, sub: {}, subs: -1, data: -1, payload: -1 });
  const rule = (kind: string, side: string) => `-----${side} ${kind}-----`;
  const credentialsFile = file(
    'user.creds',
    [
      ...[rule('NATS USER JWT', 'BEGIN'), userJwt, `-${rule('NATS USER JWT', 'END')}-`, ''],
      ...[rule('USER NKEY SEED', 'BEGIN'), text(user.getSeed()), `-${rule('USER NKEY SEED', 'END')}-`, ''],
    ].join('\n'),
  );
  await expectWorks(config, 'nats', { credentialsFile });
});

test('TLS with a client certificate', async () => {
  const authority = testAuthority('NATS CA');
  const [own, client] = [authority.issue('server'), authority.issue('client')];
  const caFile = file('ca.pem', authority.certificate);
  const tls = `cert_file: ${file('server.pem', own.certificate)}, key_file: ${file('server.key', own.private_key)}, ca_file: ${caFile}`;
  const security = { caFile, certFile: file('client.pem', client.certificate), keyFile: file('client.key', client.private_key) };
  await expectWorks(`tls { ${tls}, verify: true }`, 'tls', security);
});
