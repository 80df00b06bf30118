import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { FILE_CONNECTION, FILE_FIELDS, FILE_NOTES, FILE_TRANSPORT, FILE_VARIANT } from '../shared/files.ts';

export default defineVendor({
  key: 'sftp',
  name: 'SFTP',
  description: 'Writes events as NDJSON, CSV or Parquet files to an SFTP server.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://datatracker.ietf.org/doc/html/draft-ietf-secsh-filexfer-02',
  setup_steps: [
    'Create a user on the server that may write into one directory.',
    'Add the public key of a key pair to its authorized keys, or give it a password.',
    'Read the fingerprint of the host key: ssh-keyscan -t ed25519 sftp.example.com | ssh-keygen -lf -',
  ],
  notes: [
    ...FILE_NOTES,
    'A file is written under a hidden name that ends in .part and renamed when it is complete.',
    'The host key must match: a changed key stops delivery until the fingerprint is corrected.',
  ],
  config_fields: [
    text('host', 'Host', 'sftp.example.com', 'Name or address of the server.', {
      pattern: '^[\\w.\\-:]{1,253}$',
      pattern_hint: 'a host name or address, without sftp://',
    }),
    {
      key: 'port',
      label: 'Port',
      type: 'number',
      required: false,
      placeholder: '22',
      help_text: 'Port of the server.',
      integer: true,
      min: 1,
      max: 65_535,
      default: 22,
    },
    text('username', 'User', 'firsthand', 'User on the server.'),
    select('authentication', 'Authentication', ['private_key', 'password'], 'A private key is the safer choice.'),
    optionalSecret(
      'private_key',
      'Private key',
      '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----',
      'In OpenSSH or PEM form.',
      {
        multiline: true,
        required_when: { field: 'authentication', equals: 'private_key' },
        pattern: '^\\s*(?:•|-----BEGIN [A-Z ]*PRIVATE KEY-----)',
        pattern_hint: 'a private key (-----BEGIN … PRIVATE KEY-----)',
      },
    ),
    optionalSecret('passphrase', 'Passphrase', 'correct horse', 'Of the private key, if it has one.'),
    optionalSecret('password', 'Password', 'secret', 'Also used for keyboard-interactive authentication.', {
      required_when: { field: 'authentication', equals: 'password' },
    }),
    text('host_key', 'Host key fingerprint', 'SHA256:uNiVztksCsDhcc0u9e8BrvJXVCxUZb/1sUW2KNPpXS0', 'As ssh-keygen -l prints it.', {
      pattern: '^(SHA256:)?[A-Za-z0-9+/]{43}=?$',
      pattern_hint: 'SHA256: and 43 characters',
    }),
    optionalText('directory', 'Directory', '/upload', 'Where the folders begin; empty for the directory of the user.', {
      pattern: '^[^\\0\\r\\n]{0,500}$',
      pattern_hint: 'a path',
    }),
    ...FILE_FIELDS,
  ],
  transport: {
    kind: 'sftp',
    connection: {
      host: '{{parameters.host}}',
      port: '{{parameters.port}}',
      username: '{{parameters.username}}',
      authentication: '{{parameters.authentication}}',
      private_key: '{{parameters.private_key}}',
      passphrase: '{{parameters.passphrase}}',
      password: '{{parameters.password}}',
      host_key: '{{parameters.host_key}}',
      directory: '{{parameters.directory}}',
      ...FILE_CONNECTION,
    },
    ...FILE_TRANSPORT,
  },
  default_action: 'pass_through',
  timeout_ms: 300_000,
  rate: { rps: 10, burst: 20 },
  concurrency: 2,
  variants: [FILE_VARIANT],
});
