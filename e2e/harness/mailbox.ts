/** A real SMTP server that keeps the mails it gets. */
import { SMTPServer } from 'smtp-server';
import { freePort } from '../../packages/server/test/servers/index.ts';

export interface Mailbox {
  /** For SMTP_URL. */
  url: string;
  /** Headers and text of each mail. */
  mails: string[];
  close(): Promise<void>;
}

export async function startMailbox(): Promise<Mailbox> {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      let mail = '';
      stream.on('data', (chunk: Buffer) => {
        mail += chunk.toString();
      });
      stream.on('end', () => {
        mails.push(mail);
        done();
      });
    },
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `smtp://127.0.0.1:${port}`, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
