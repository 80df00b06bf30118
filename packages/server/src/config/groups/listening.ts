import { anyText, asciiToken, durationOrNone, hostNames, port, proxies, publicUrl } from '../parsers.ts';
import { optional, setting } from '../setting.ts';

export const LISTENING = {
  port: setting({
    variable: 'PORT',
    default: '8080',
    parser: port,
    meaning: 'Listener for management API, collection endpoints and console. 0 picks a free port.',
  }),
  host: setting({ variable: 'HOST', default: '0.0.0.0', parser: anyText, meaning: 'Address to listen on.' }),
  ingestPort: optional({
    variable: 'INGEST_PORT',
    unset: 'same as `PORT`',
    parser: port,
    meaning: 'Separate listener for the collection endpoints.',
  }),
  baseUrl: optional({
    variable: 'BASE_URL',
    unset: 'from the request',
    parser: publicUrl,
    meaning: 'Public address of the management API and the console.',
  }),
  ingestUrl: optional({
    variable: 'INGEST_URL',
    unset: 'from the request',
    parser: publicUrl,
    meaning: 'Public address of the collection endpoints: used in snippets, webhook URLs and signatures.',
  }),
  allowedHosts: optional({
    variable: 'ALLOWED_HOSTS',
    unset: 'loopback only',
    parser: hostNames,
    meaning:
      'Host names, separated by commas, that links may be built from in production when `BASE_URL` or `INGEST_URL` is not set. Requests for a snippet or a webhook URL under another host get 409.',
  }),
  metricsPort: optional({
    variable: 'METRICS_PORT',
    unset: 'same as `PORT`',
    parser: port,
    meaning: 'Separate listener for `/metrics`, `/healthz` and `/readyz`. `/metrics` is then served there only.',
  }),
  metricsToken: optional({
    variable: 'METRICS_TOKEN',
    unset: 'no token needed',
    parser: asciiToken(16),
    secret: true,
    meaning: 'Token that `/metrics` asks for on the main listener, as `Authorization: Bearer`.',
  }),
  drainDelayMs: setting({
    variable: 'DRAIN_DELAY',
    default: { from: (value) => (value('MODE') === 'production' ? '5s' : '0s'), shown: '`0s`; `5s` in production' },
    parser: durationOrNone,
    meaning:
      'How long the process still accepts connections after a stop signal, while `/readyz` answers `draining`. Load balancers move traffic to other processes in this time. At most 60s.',
  }),
  trustProxy: optional({
    variable: 'TRUST_PROXY',
    unset: 'no proxy',
    parser: proxies,
    meaning: 'Number of proxies in front of the service, or their networks, whose `X-Forwarded-For` is trusted.',
  }),
};
