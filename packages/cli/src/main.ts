#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=8 --v8-pool-size=0
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { CommandError } from './failure.ts';

// Sources are TypeScript: what was stripped and compiled once is kept, so that a start takes a second and not five.
enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/firsthand'));

/** What follows the command's own words; prints its result on standard output. */
type Command = (args: string[]) => Promise<void>;

/** Each is loaded only where it is asked for: the service should not carry the tools. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.ts')).start,
  demo: async () => (await import('./commands/demo.ts')).demo,
  'org create': async () => (await import('./commands/org-create.ts')).orgCreate,
  'user reset-password': async () => (await import('./commands/reset-password.ts')).resetPassword,
  'audit verify': async () => (await import('./commands/audit-verify.ts')).auditVerify,
  'rotate-key': async () => (await import('./commands/rotate-key.ts')).rotateKey,
  'backup verify': async () => (await import('./commands/backup-verify.ts')).backupVerify,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
};

const HELP = `firsthand <command>

  start                                   run the service (settings come from the environment)
  demo [--rate N] [--port P | --url U --email E --password P]
                                          a demo shop with live traffic, on a service of its own or on the one at U
  org create --name N --owner-email E --owner-password P
                                          make an organisation and its owner; prints {org_id, user_id}
  user reset-password --email E [--password P]
                                          set a new password (made and printed where none is given), unlock, log out
  audit verify [--org ORG_ID]             check the audit chains; exit code 1 where one is broken
  rotate-key [--new-key K]                wrap the organisations' data keys under a new SECRET_KEY; stop the service first
  backup --to FOLDER                      copy the embedded stores, also while the service runs
  backup verify --from FOLDER [--write-manifest]
                                          check a backup: checksums, databases, log; --write-manifest for one of an older version
  restore --from FOLDER                   verify a backup and put it in place of DATA_DIR; stop the service first
  --version, --help

DATA_DIR, DATABASE_URL and SECRET_KEY name the installation, as they do for the service.
`;

async function run(args: string[]): Promise<void> {
  const [first = '--help', second] = args;
  if (first === '--help' || first === '-h' || first === 'help') return void process.stdout.write(HELP);
  if (first === '--version' || first === '-v') return (await import('./commands/version.ts')).version();
  for (const [words, rest] of [
    [`${first} ${second}`, args.slice(2)],
    [first, args.slice(1)],
  ] as const) {
    if (!Object.hasOwn(COMMANDS, words)) continue;
    if (rest.includes('--help')) return void process.stdout.write(HELP);
    const command = await COMMANDS[words]!();
    return await command(rest);
  }
  throw new CommandError(`There is no command ${JSON.stringify(args.join(' '))}: firsthand --help lists them.`);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
