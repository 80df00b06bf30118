import { posix } from 'node:path';

/** The table of all commands. `firsthand --help` and docs/reference/cli.md are generated from it. */
type Run = (args: string[]) => Promise<void>;

interface Command {
  /** The words the user types after `firsthand`. */
  words: string;
  options: string;
  /** One line without a full stop, for `--help`. */
  summary: string;
  details?: string;
  /** Loads the command's code on demand, so that the service does not load the tools. */
  load: () => Promise<Run>;
}

export const COMMANDS: readonly Command[] = [
  {
    words: 'start',
    options: '',
    summary: 'Run the service; settings come from the environment',
    details:
      '`PORT` (8080) and `DATA_DIR` (`./data`) suffice for a first try; `OWNER_EMAIL` and `OWNER_PASSWORD` are those of the first owner, at the first start. All variables are in the [settings](settings.md).',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    words: 'demo',
    options: '[--rate N] [--port P | --url U --email E --password P]',
    summary: 'Run a demo shop with live traffic',
    details:
      'Starts a service of its own (`DATA_DIR`, default `./data/demo`), or uses the running service at `--url`. `--rate` is in events per second.',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    words: 'org create',
    options: '--name N --owner-email E --owner-password P',
    summary: 'Create an organisation and its owner',
    details: 'Prints `{org_id, user_id}`. Works while the service runs. The password needs 12 characters or more.',
    load: async () => (await import('./commands/org-create.ts')).orgCreate,
  },
  {
    words: 'user reset-password',
    options: '--email E [--password P] [--disable-totp]',
    summary: 'Set a new password, unlock the account and end its sessions',
    details:
      'Without `--password` a password is generated and printed. `--disable-totp` turns off two-step sign-in. Where `LOCAL_LOGIN=false`, the password works for an hour.',
    load: async () => (await import('./commands/reset-password.ts')).resetPassword,
  },
  {
    words: 'audit verify',
    options: '[--org ORG_ID]',
    summary: 'Check the audit log hash chains; exit code 1 if one is broken',
    details:
      'Prints one line per organisation: `{org_id, valid, checked, first_invalid_id, unkeyed}`; `unkeyed` counts entries written before the chain was keyed.',
    load: async () => (await import('./commands/audit-verify.ts')).auditVerify,
  },
  {
    words: 'rotate-key',
    options: '[--new-key K]',
    summary: 'Wrap the data keys of all organisations under a new SECRET_KEY; stop the service first',
    details:
      'Without `--new-key` a key is generated, which is possible only where the key is stored in `DATA_DIR`. If `SECRET_KEY` is set in the environment, set it to the new key before the next start. Access tokens signed with the old key become invalid.',
    load: async () => (await import('./commands/rotate-key.ts')).rotateKey,
  },
  {
    words: 'upgrade',
    options: '--check',
    summary: 'Show what the start of this version will change, and what to do first; changes nothing',
    details:
      'Prints `{version, schema, known, pending, starts, rolling, create_indexes, earlier_streams, unsettled_records}`. With `rolling: true` processes of the previous version go on working during and after the upgrade. `create_indexes`: statements to run by hand, on a large PostgreSQL table. `earlier_streams`: NATS streams that this version does not read; `unsettled_records` of them wait for processing or delivery by the earlier version. Exit code 1 with `starts: false`, which means that a newer version has changed the database in a way that this one does not know, or if unsettled records keep this version from starting.',
    load: async () => (await import('./commands/upgrade.ts')).upgrade,
  },
  {
    words: 'backup',
    options: '--to FOLDER | --repository FOLDER',
    summary: 'Copy the embedded stores; works while the service runs',
    details:
      '`--to` makes a whole copy in an empty or new folder. `--repository` adds a backup to a repository, which stores only what changed. For NATS use `backup streams`, for PostgreSQL `pg_dump`.',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    words: 'backup streams',
    options: '--to FOLDER',
    summary: 'Copy the streams in NATS; works while the service runs',
    details:
      'Needs an empty or new folder. Prints `{to, streams, messages, bytes}`. Run `pg_dump` after it: [why, and the whole procedure](../guides/operations/backup.md#postgresql-and-nats-jetstream).',
    load: async () => (await import('./commands/backup-streams.ts')).backupStreams,
  },
  {
    words: 'backup verify',
    options: '--from FOLDER [--write-manifest]',
    summary: 'Check a backup: checksums, databases, log',
    details: 'Of a repository, every backup is checked. `--write-manifest` adds the manifest to a backup made by an older version.',
    load: async () => (await import('./commands/backup-verify.ts')).backupVerify,
  },
  {
    words: 'backup prune',
    options: '--repository FOLDER --keep N',
    summary: 'Remove all but the newest N backups of a repository',
    details: 'It is refused while a backup is being written there, and the other way round.',
    load: async () => (await import('./commands/backup-prune.ts')).backupPrune,
  },
  {
    words: 'restore',
    options: '--from FOLDER [--name BACKUP]',
    summary: 'Verify a backup and replace DATA_DIR with it; stop the service first',
    details:
      '`--name` chooses a backup of a repository; without it the newest is restored. The replaced files are kept in `DATA_DIR/before-restore-<time>`.',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  {
    words: 'restore streams',
    options: '--from FOLDER',
    summary: 'Verify a backup of streams and create them in an empty NATS; start no process before',
    details: 'Streams get the number of replicas that `NATS_REPLICAS` says.',
    load: async () => (await import('./commands/restore-streams.ts')).restoreStreamsCommand,
  },
];

/** Commands that begin with these words: `backup` has four, `org` is none itself and has one. */
export function commandsUnder(words: string): Command[] {
  return COMMANDS.filter((command) => command.words === words || command.words.startsWith(`${words} `));
}
export function usageOf({ words, options }: Pick<Command, 'words' | 'options'>): string {
  return `Usage: firsthand ${words} ${options}`.trimEnd();
}

export function helpText(): string {
  return `firsthand <command>

${lines(COMMANDS)}
  --version
  --help, <command> --help

DATA_DIR, DATABASE_URL and SECRET_KEY select the installation, as they do for the service.
`;
}
/** The help of one command, or of a word that several commands begin with. */
export function helpOf(words: string): string {
  const command = COMMANDS.find((one) => one.words === words);
  const others = commandsUnder(words).filter((one) => one !== command);
  return [
    ...(command === undefined ? [] : [usageOf(command), `${command.summary}.`, ...(command.details ? [wrap(plain(command.details))] : [])]),
    ...(others.length > 0 ? [`Commands:\n${lines(others)}`] : []),
  ]
    .map((part) => `${part}\n`)
    .join('\n');
}

function lines(commands: readonly Command[]): string {
  return commands
    .flatMap(({ words, options, summary }) => {
      const call = `  ${words} ${options}`.trimEnd();
      return call.length < 42 ? [`${call.padEnd(42)}${summary}`] : [call, `${' '.repeat(42)}${summary}`];
    })
    .join('\n');
}
/** Markdown as a terminal shows it: the target of a link in brackets, from the root of the repository. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, text: string, target: string) => `${text} (${posix.join('docs/reference', target)})`)
    .replaceAll('`', '');
}
const WIDTH = 100;
function wrap(text: string): string {
  return text.split(' ').reduce((done, word) => {
    const last = done.length - (done.lastIndexOf('\n') + 1);
    return done === '' ? word : `${done}${last + 1 + word.length > WIDTH ? '\n' : ' '}${word}`;
  }, '');
}
