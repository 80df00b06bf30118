/** A DATA_DIR that lost or damaged files: neither the service nor a command works on what is left, or puts something empty in its place. */
import { execFile, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, 'firsthand.js');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-damaged-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Of a service that accepted an event and was killed, and of one that was stopped. */
const [killed, stopped] = [join(folder, 'killed'), join(folder, 'stopped')];

interface Ended {
  code: number | null;
  out: string;
  err: string;
}
function firsthand(dataDir: string, args: readonly string[], options: { uid?: number; timeout?: number } = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', OWNER_PASSWORD: 'a long password' };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env, ...options }, (error, out, err) =>
      resolve({ code: error === null ? 0 : (error.code as unknown as number | null), out, err }),
    );
  });
}

/** Whether every user may enter the folders above it. */
function isOpen(path: string): boolean {
  const above = dirname(path);
  return above === path || ((statSync(above).mode & 0o001) !== 0 && isOpen(above));
}

/** Runs the service until it has printed its address, calls `use` with it and ends it. */
async function serve(dataDir: string, signal: NodeJS.Signals, use: (url: string) => Promise<void> = async () => {}): Promise<string> {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', OWNER_PASSWORD: 'a long password' };
  const service = spawn(process.execPath, [MAIN, 'start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  const ended = new Promise((resolve) => service.once('exit', resolve));
  const started = new Promise<string>((resolve, reject) => {
    const add = (chunk: Buffer) => {
      out += chunk.toString();
      const url = /http:\/\/\S+?:\d+/.exec(out)?.[0];
      if (url !== undefined) resolve(url.replace('0.0.0.0', '127.0.0.1'));
    };
    service.stdout.on('data', add);
    service.stderr.on('data', add);
    service.once('exit', () => reject(new Error(`it ended: ${out}`)));
  });
  await use(await started);
  service.kill(signal);
  await ended;
  return out;
}

async function sendEvent(url: string): Promise<void> {
  const call = async (path: string, token: string | undefined, body: object) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(reply.ok, await reply.clone().text()).toBe(true);
    return (await reply.json()) as Record<string, string>;
  };
  const { access_token } = await call('/v1/admin/auth/login', undefined, { email: 'owner@localhost', password: 'a long password' });
  const { pipeline_key } = await call('/v1/admin/pipelines', access_token, { name: 'Shop' });
  await call('/v1/t', pipeline_key, { type: 'track', event: 'E', userId: 'u', properties: { text: 'x'.repeat(50_000) } });
}

beforeAll(async () => {
  await serve(killed, 'SIGKILL', sendEvent);
  cpSync(killed, stopped, { recursive: true });
  await serve(stopped, 'SIGTERM');
});

let copies = 0;
function copyOf(dataDir: string): string {
  const copy = join(folder, `copy-${++copies}`);
  cpSync(dataDir, copy, { recursive: true });
  return copy;
}
/** The names of all files, without those that SQLite and LMDB keep beside theirs while they are open, and what is left of one. */
const contents = (dataDir: string, name: string) => ({
  names: readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((file) => !/running\.lock|-shm$|-wal$|lock\.mdb/.test(file))
    .toSorted(),
  left: existsSync(join(dataDir, name)) ? hash('sha256', readFileSync(join(dataDir, name))) : undefined,
});

const cut = (name: string, bytes: (size: number) => number) => (dataDir: string) =>
  truncateSync(join(dataDir, name), bytes(statSync(join(dataDir, name)).size));
const garbage = (name: string) => (dataDir: string) => {
  for (const suffix of ['-wal', '-shm']) rmSync(join(dataDir, name + suffix), { force: true });
  writeFileSync(join(dataDir, name), 'garbage\n'.repeat(5_000));
};
const without = (name: string) => (dataDir: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDir, name + suffix), { recursive: true, force: true });
};
const LOG = join('log', 'data.mdb');
const BACKUP = ['backup', '--to', join(folder, 'never-made')];
const AUDIT = ['audit', 'verify'];
const COMMANDS = [
  BACKUP,
  ['org', 'create', '--name', 'N', '--owner-email', 'n@example.com', '--owner-password', 'a long password'],
  ['user', 'reset-password', '--email', 'owner@localhost'],
  AUDIT,
  ['rotate-key'],
  ['upgrade', '--check'],
];

type Damage = [what: string, file: string, fault: RegExp, damage: (dataDir: string) => void, commands: string[][]];
const DAMAGE: Damage[] = [
  ['the log is cut in half', LOG, /is damaged: it is cut off/, cut(LOG, (size) => Math.floor(size / 2)), [BACKUP]],
  ['the folder of the log is missing', LOG, /is missing/, without('log'), [BACKUP]],
  ['the configuration is garbage', 'config.sqlite', /is damaged: file is not a database/, garbage('config.sqlite'), [BACKUP, AUDIT]],
  ['the traces are missing', 'observe.sqlite', /is missing/, without('observe.sqlite'), [BACKUP]],
];
const MORE_DAMAGE: Damage[] = [
  ['the configuration is garbage', 'config.sqlite', /is damaged: file is not a database/, garbage('config.sqlite'), COMMANDS],
  ['the log is cut to a page', LOG, /is empty or cut off/, cut(LOG, () => 4_096), [BACKUP]],
  ['the log is empty', LOG, /is empty or cut off/, cut(LOG, () => 0), [BACKUP]],
  ['the log is garbage', LOG, /is damaged: it is not a file of the log/, garbage(LOG), [BACKUP]],
  ['the file of the log is missing', LOG, /is missing/, without(LOG), [BACKUP]],
  ['the configuration is missing', 'config.sqlite', /is missing, but observe\.sqlite is there/, without('config.sqlite'), COMMANDS],
  ['the traces are garbage', 'observe.sqlite', /is damaged: file is not a database/, garbage('observe.sqlite'), [BACKUP]],
];

test.each([
  ['killed', () => killed],
  ['stopped', () => stopped],
])('a service that was %s starts again', async (_how, dataDir) => {
  expect(await serve(copyOf(dataDir()), 'SIGTERM')).not.toContain('could not start');
});

const NAMED = '%s: the start and the commands name the file and change nothing';
const refusesDamage = async (...[_what, file, fault, damage, refused]: Damage) => {
  const copy = copyOf(stopped);
  damage(copy);
  const before = contents(copy, file);
  for (const command of [['start'], ...refused]) {
    const { code, out, err } = await firsthand(copy, command);
    expect({ code, out }, command.join(' ')).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^(Firsthand could not start: )?DATA_DIR: [^\n]+restore a backup[^\n]+\n$/);
    expect(err).toContain(`${join(copy, file)} is `);
    expect(err).toMatch(fault);
    expect(contents(copy, file), command.join(' ')).toEqual(before);
  }
};
test.each(DAMAGE)(NAMED, refusesDamage);
test.each(MORE_DAMAGE)(NAMED, { tags: ['long'] }, refusesDamage);

describe('a first start that was killed', () => {
  test.each<[string, (dataDir: string) => void]>([
    ['after the configuration was made', without('log')],
    ['while it made the file of the log', cut(LOG, () => 4_096)],
    [
      'before it wrote anything',
      (dataDir) => {
        for (const file of ['log', 'observe.sqlite', 'observe.sqlite-wal', 'observe.sqlite-shm', 'secret-key']) without(file)(dataDir);
        cut('config.sqlite', () => 0)(dataDir);
      },
    ],
  ])('is followed by one that works: %s', async (_when, damage) => {
    const dataDir = copyOf(killed);
    forgetNoted(dataDir);
    damage(dataDir);
    expect(await serve(dataDir, 'SIGTERM')).not.toContain('could not start');
  });

  test('by an organisation that was made before the service ever ran', async () => {
    const dataDir = join(folder, 'made-first');
    expect((await firsthand(dataDir, COMMANDS[1]!)).err).toBe('');
    expect(await serve(dataDir, 'SIGTERM')).not.toContain('could not start');
  });

  /** As before the first start has opened all stores. */
  function forgetNoted(dataDir: string): void {
    const database = new DatabaseSync(join(dataDir, 'config.sqlite'));
    database.exec('delete from embedded_stores');
    database.close();
  }
});

test('a lost log is begun anew where the operator says so, once', async () => {
  const dataDir = copyOf(stopped);
  without('log')(dataDir);
  writeFileSync(join(dataDir, 'begin-empty'), '');
  expect(await serve(dataDir, 'SIGTERM')).not.toContain('could not start');
  without('log')(dataDir);
  expect((await firsthand(dataDir, ['start'])).err).toContain('data.mdb is missing');
});

test('the log of an installation of an earlier version is missed too', async () => {
  const dataDir = copyOf(stopped);
  const database = new DatabaseSync(join(dataDir, 'config.sqlite'));
  database.exec("drop table embedded_stores; delete from schema_migrations where name = 'embedded-stores'");
  database.close();
  without('log')(dataDir);
  expect((await firsthand(dataDir, ['start'])).err).toContain('data.mdb is missing');
});

describe('a DATA_DIR that cannot be used', () => {
  test.each([
    ['a file', (path: string) => writeFileSync(path, ''), (path: string) => path],
    ['below a file', (path: string) => writeFileSync(path, ''), (path: string) => join(path, 'data')],
  ])('because it is %s', async (what, make, of) => {
    const path = join(folder, what.replace(' ', '-'));
    make(path);
    for (const command of [['start'], BACKUP, AUDIT, ['restore', '--from', path]]) {
      const { code, out, err } = await firsthand(of(path), command);
      expect({ code, out }, command.join(' ')).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^(Firsthand could not start: )?(DATA_DIR: [^\n]+ is not a folder|There is no|[^\n]+holds no backup)[^\n]*\n$/);
    }
  });

  // Node's recursive mkdir never returns there.
  test.runIf(process.platform === 'linux').each([
    ['start', '/proc/firsthand', ['start']],
    ['start, deeper', '/proc/firsthand/data', ['start']],
    ['backup', stopped, ['backup', '--to', '/proc/firsthand']],
    ['backup into a repository', stopped, ['backup', '--repository', '/proc/firsthand']],
  ])('because /proc takes no new folders: %s', async (_what, dataDir, command) => {
    const { code, out, err } = await firsthand(dataDir, command, { timeout: 20_000 });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    const fault =
      dataDir === stopped ? "ENOENT: no such file or directory, mkdir '/proc/firsthand'" : 'DATA_DIR: [^\n]+ cannot be created[^\n]+';
    expect(err).toMatch(new RegExp(`^(Firsthand could not start: )?${fault}\n$`));
  });

  // Only root can act as another user, who must be able to reach the program: not in a checkout below /root.
  test.skipIf(process.getuid?.() !== 0 || !isOpen(MAIN) || !isOpen(process.execPath)).each([
    ['the folder', ''],
    ['a file in it', 'config.sqlite'],
  ])('because %s belongs to another user', async (_what, name) => {
    const dataDir = copyOf(stopped);
    for (const file of ['', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) chmodSync(join(dataDir, file), 0o777);
    chmodSync(folder, 0o755);
    chmodSync(join(dataDir, name), 0o555);
    for (const command of [['start'], BACKUP, AUDIT]) {
      const { code, err } = await firsthand(dataDir, command, { uid: 65_534 });
      expect([code, err], command.join(' ')).toEqual([
        1,
        expect.stringMatching(
          /^(Firsthand could not start: )?DATA_DIR: [^\n]+ cannot be read and written by this user \(EACCES\)[^\n]+\n$/,
        ),
      ]);
    }
  });
});
