/** Sends an announcement to a webhook, to Slack or by e-mail. */
import type { AlertChannel } from '@firsthand/core/config/alert.ts';
import type { Settings } from '../../../config.ts';
import type { GuardedClient } from '../../../outbound/guarded-client.ts';
import { errorText } from '../../../runtime/error-text.ts';
import { type Announcement, subjectOf, textOf } from './message.ts';

const TIMEOUT_MS = 10_000;

export interface ChannelDeps {
  client: Pick<GuardedClient, 'send'>;
  settings: Pick<Settings, 'smtpUrl' | 'smtpFrom'>;
}

export interface Unsent {
  /** For the user: one of our own sentences, never the text of the server that was called. */
  reason: string;
  /** For the operator's log. */
  detail?: string;
}

/** Returns why it failed; undefined where it was sent. */
export async function announce(deps: ChannelDeps, channel: AlertChannel, announcement: Announcement): Promise<Unsent | undefined> {
  if (channel.type === 'email') return await sendMail(deps, channel.to ?? '', announcement);
  const body = channel.type === 'slack' ? { text: textOf(announcement) } : announcement;
  const result = await deps.client.send(
    { method: 'POST', url: channel.url ?? '', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    TIMEOUT_MS,
  );
  if (result.kind === 'failed') return { reason: result.error };
  const { status } = result.reply;
  return status >= 200 && status < 300 ? undefined : { reason: `the address answered ${status}` };
}

/** The operator sets SMTP_URL, often to a host of the internal network, so the rules for destinations that users choose do not apply to it. */
async function sendMail({ settings }: ChannelDeps, to: string, announcement: Announcement): Promise<Unsent | undefined> {
  if (settings.smtpUrl === undefined) return { reason: 'the setting SMTP_URL is missing' };
  // Loaded on first use: most installations send no mail.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: settings.smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  try {
    await transport.sendMail({ from: settings.smtpFrom, to, subject: subjectOf(announcement), text: textOf(announcement) });
    return undefined;
  } catch (error) {
    return { reason: mailFailure(error as MailError), detail: errorText(error) };
  } finally {
    transport.close();
  }
}

/** As nodemailer sets them. */
interface MailError {
  code?: string;
  /** The code of the socket's own error. */
  originalCode?: string;
  responseCode?: number;
  command?: string;
}
/** A fixed sentence: the server's own text may be the greeting of any internal host, and users may read this. */
function mailFailure({ code, originalCode, responseCode, command }: MailError): string {
  const answered = responseCode !== undefined && responseCode >= 200 && responseCode <= 599 ? ` (${responseCode})` : '';
  if (code === 'EAUTH') return `the mail server refused the user name or password of SMTP_URL${answered}`;
  if (code === 'EENVELOPE') return `the mail server refused the ${command === 'MAIL FROM' ? 'sender SMTP_FROM' : 'recipient'}${answered}`;
  if (code === 'EMESSAGE') return `the mail server refused the message${answered}`;
  if (code === 'EPROTOCOL') return 'the host of SMTP_URL does not answer like a mail server';
  const isTls = code === 'ETLS' || (code === 'ESOCKET' && (originalCode === 'EPROTO' || /_/.test(originalCode ?? '')));
  return isTls ? 'the TLS connection to the mail server failed' : 'the mail server cannot be reached';
}
