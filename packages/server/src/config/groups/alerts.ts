import { emailAddress, smtpUrl, timerInterval } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export const ALERTS = {
  smtpUrl: optional({
    variable: 'SMTP_URL',
    unset: 'no e-mail',
    parser: smtpUrl,
    secret: true,
    meaning: 'Mail server for alerts by e-mail: `smtp://user:password@host:587`, or `smtps://` for TLS from the start.',
  }),
  smtpFrom: setting({
    variable: 'SMTP_FROM',
    default: 'firsthand@localhost',
    parser: emailAddress,
    meaning: 'Sender of alerts by e-mail.',
  }),
  alertIntervalMs: setting({
    variable: 'ALERT_INTERVAL',
    default: '15s',
    parser: timerInterval,
    meaning: 'How often alerts are evaluated.',
  }),
};
