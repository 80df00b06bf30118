import { createServer } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../test/servers/index.ts';
import { announce } from './channels.ts';
import type { Announcement } from './message.ts';

const INTERNAL = 'postfix 3.8 on internal-host-7';
const refusal = (responseCode: number) => Object.assign(new Error(INTERNAL), { responseCode });

async function mailTo(port: number, { scheme = 'smtp', user = '' } = {}) {
  const settings = { smtpUrl: `${scheme}://${user}127.0.0.1:${port}`, smtpFrom: 'firsthand@example.com' };
  const client = { send: () => Promise.reject(new Error('not a webhook')) };
  const announcement: Announcement = {
    type: 'alert.test',
    alert: { id: 'alr_1', name: 'Orders', kind: 'failing', pipeline_id: null, integration_id: null, threshold: 1, window_minutes: 5 },
    message: 'This is a test.',
    value: 0,
    since: '2026-05-01T12:00:00.000Z',
    event_id: null,
    link: null,
  };
  return await announce({ client, settings }, { type: 'email', to: 'oncall@shop.example' }, announcement);
}
async function startMail(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => void stream.on('end', () => done()).resume(),
    ...options,
  });
  server.on('error', () => undefined);
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(resolve)));
  return port;
}

test.each<[name: string, SMTPServerOptions, how: { scheme?: string; user?: string }, reason: string]>([
  [
    'sign-in',
    { onAuth: (_auth, _session, done) => done(refusal(535)) },
    { user: 'a:b@' },
    'refused the user name or password of SMTP_URL (535)',
  ],
  ['sender', { onMailFrom: (_address, _session, done) => done(refusal(553)) }, {}, 'refused the sender SMTP_FROM (553)'],
  ['recipient', { onRcptTo: (_address, _session, done) => done(refusal(550)) }, {}, 'refused the recipient (550)'],
  [
    'message',
    { onData: (stream, _session, done) => void stream.on('end', () => done(refusal(554))).resume() },
    {},
    'refused the message (554)',
  ],
  ['TLS', {}, { scheme: 'smtps' }, 'TLS connection to the mail server failed'],
])('the text of the mail server stays in the log, users read a sentence of ours: %s', async (_name, options, how, reason) => {
  const unsent = await mailTo(await startMail(options), how);
  expect(unsent?.reason).toContain(reason);
  expect(unsent?.reason).not.toContain('internal-host');
  expect(unsent?.detail).toEqual(expect.any(String));
});

test('the greeting of a host that is no mail server was shown to users', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).end(`SSH-2.0-${INTERNAL}\r\n`));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  expect(await mailTo(port)).toEqual({
    reason: 'the host of SMTP_URL does not answer like a mail server',
    detail: expect.stringContaining(INTERNAL),
  });
});

test('a mail server that is not there', async () => {
  expect((await mailTo(await freePort()))?.reason).toBe('the mail server cannot be reached');
});

test('a mail that is accepted has no failure', async () => {
  expect(await mailTo(await startMail({}))).toBe(undefined);
});
