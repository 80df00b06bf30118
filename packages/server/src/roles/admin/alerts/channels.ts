/** Sends an announcement to a webhook, to Slack or by e-mail. */
import type { AlertChannel } from '@firsthand/core/config/alert.ts';
import type { Settings } from '../../../config.ts';
import type { GuardedClient } from '../../../outbound/guarded-client.ts';
import { type Announcement, subjectOf, textOf } from './message.ts';

const TIMEOUT_MS = 10_000;

export interface ChannelDeps {
  client: Pick<GuardedClient, 'send'>;
  settings: Pick<Settings, 'smtpUrl' | 'smtpFrom'>;
}

/** Returns why it failed; undefined where it was sent. */
export async function announce(deps: ChannelDeps, channel: AlertChannel, announcement: Announcement): Promise<string | undefined> {
  if (channel.type === 'email') return await sendMail(deps, channel.to ?? '', announcement);
  const body = channel.type === 'slack' ? { text: textOf(announcement) } : announcement;
  const result = await deps.client.send(
    { method: 'POST', url: channel.url ?? '', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    TIMEOUT_MS,
  );
  if (result.kind === 'failed') return result.error;
  const { status } = result.reply;
  return status >= 200 && status < 300 ? undefined : `the address answered ${status}`;
}

async function sendMail({ settings }: ChannelDeps, to: string, announcement: Announcement): Promise<string | undefined> {
  if (settings.smtpUrl === undefined) return 'the setting SMTP_URL is missing';
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
    return error instanceof Error ? error.message : String(error);
  } finally {
    transport.close();
  }
}
