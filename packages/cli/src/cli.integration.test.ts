import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const MAIN = join(import.meta.dirname, 'firsthand.js');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-cli-'));
const dataDir = join(folder, 'data');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function firsthand(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}
const org = (email: string) => ['org', 'create', '--name', 'Shop', '--owner-email', email, '--owner-password', 'a long password'];

test.each([
  [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  [['--help'], 0, /org create/],
  [[], 0, /org create/],
  [['org', 'create', '--help'], 0, /^Usage: firsthand org create --name N [\s\S]*Works while the service runs/],
  [['org', 'create', '-h'], 0, /^Usage: firsthand org create/],
  [['org', '--help'], 0, /^Commands:\n {2}org create/],
  [['help', 'start'], 0, /^Usage: firsthand start\n[\s\S]*\(docs\/reference\/settings\.md\)/],
  [['backup', '--help'], 0, /^Usage: firsthand backup --to[\s\S]*\nCommands:\n {2}backup streams --to FOLDER/],
  [['backup', 'streams', '--help'], 0, /^Usage: firsthand backup streams --to FOLDER\n[\s\S]*\(docs\/guides\/operations\/backup\.md#/],
] as const)('firsthand %j prints', async (args, code, out) => {
  const answer = await firsthand([...args]);
  expect([answer.code, answer.err]).toEqual([code, '']);
  expect(answer.out).toMatch(out);
});

test.each([
  [['nonsense'], /no command/],
  [['__proto__'], /no command/],
  [['help', 'nonsense'], /no command/],
  [['nonsense', 'a password'], /^There is no command "nonsense": firsthand --help lists them\.\n$/],
  [['org'], /^There is no command "org"\.\nUsage: firsthand org create --name N/],
  [['org', 'crate'], /^There is no command "org crate"\.\nUsage: firsthand org create --name N/],
  [['start', 'now'], /'now'.*\nUsage: firsthand start\n$/],
  [['restore'], /^Missing: --from\nUsage: firsthand restore --from FOLDER \[--name BACKUP\]\n$/],
  [['org', 'create', '--name', 'x'], /--owner-email, --owner-password/],
  [['org', 'create', '--nam', 'x'], /--nam/],
  [['org', 'create', '--name', 'x', '--owner-email', 'no', '--owner-password', 'a long password'], /--owner-email/],
  [['org', 'create', '--name', 'x', '--owner-email', 'a@b', '--owner-password', 'short'], /12 characters/],
  [['user', 'reset-password', '--email', 'nobody@example.com'], /There is no installation in /],
  [['audit', 'verify'], /There is no installation in /],
  [['rotate-key'], /There is no installation in /],
  [['upgrade', '--check'], /There is no installation in /],
  [['demo', '--url', 'localhost:8080'], /^--url: must be an http or https address\.\n$/],
  [['demo', '--port', '0'], /^--port: must be a port/],
  [['rotate-key', '--new-key', 'short'], /16 characters/],
  [['backup'], /--to/],
  [['upgrade'], /upgrade --check/],
  [['restore', '--from', '/nonexistent'], /holds no backup/],
] as const)('firsthand %j fails on standard error', async (args, message) => {
  const answer = await firsthand([...args]);
  expect([answer.code, answer.out]).toEqual([1, '']);
  expect(answer.err).toMatch(message);
  expect(existsSync(dataDir), 'nothing is created').toBe(false);
});

test('worker threads keep their own heap limits (the flag for the young generation of the main thread replaced them)', async () => {
  const report = `require('node:worker_threads').parentPort.postMessage(require('node:v8').getHeapStatistics().heap_size_limit)`;
  const code = `import { Worker } from 'node:worker_threads';
    process.argv.push('firsthand', '--version');
    await import(${JSON.stringify(MAIN)});
    const limitOf = (maxYoungGenerationSizeMb) => new Promise((resolve) => {
      const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb };
      new Worker(${JSON.stringify(report)}, { eval: true, execArgv: [], resourceLimits }).once('message', resolve);
    });
    console.log((await limitOf(8)) < (await limitOf(48)));`;
  const flags = ['--max-semi-space-size=8', '--input-type=module', '-e', code];
  const out = await new Promise((resolve) => execFile(process.execPath, flags, (_error, printed) => resolve(printed)));
  expect(out).toMatch(/^\d+\.\d+\.\d+\ntrue\n$/);
});

test('a bad setting is named, and PostgreSQL is left to its own tools', async () => {
  expect((await firsthand(org('a@example.com'), { PORT: 'x', MODE: 'y' })).err).toMatch(/PORT.*\n.*MODE|MODE.*\n.*PORT/);
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SECRET_KEY: 'a key of sixteen characters' };
  const refused = await firsthand(['backup', '--to', join(folder, 'pg')], env);
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/pg_dump/)]);
});

test.each([
  ['127.0.0.1:1', 'nobody@127.0.0.1:1/none', /ECONNREFUSED/],
  ['localhost:1', 'nobody@localhost:1/none', /ECONNREFUSED/],
  ['/nowhere', '/none?host=/nowhere', /ENOENT/],
])('every command that needs PostgreSQL names the server that it cannot reach: %s', async (host, address, reason) => {
  const env = { DATABASE_URL: `postgres://${address}`, SECRET_KEY: 'a key of sixteen characters' };
  const commands = [
    org('a@example.com'),
    ['user', 'reset-password', '--email', 'a@example.com'],
    ['audit', 'verify'],
    ['rotate-key', '--new-key', 'another key of sixteen characters'],
    ['upgrade', '--check'],
  ];
  for (const command of commands) {
    const { code, out, err } = await firsthand(command, env);
    expect([code, out], command.join(' ')).toEqual([1, '']);
    expect(err).toMatch(/^DATABASE_URL: PostgreSQL at [^\n]+\n$/);
    expect(err).toContain(`PostgreSQL at ${host} cannot be used: `);
    expect(err).toMatch(reason);
  }
});

test('the demo ends with an error if another service has its port, or refuses its owner', async () => {
  const other = createServer((request, response) => response.writeHead(request.url === '/readyz' ? 200 : 401).end());
  await new Promise<void>((resolve) => other.listen(0, resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const taken = await firsthand(['demo', '--port', String(port)]);
  expect([taken.code, taken.err]).toEqual([1, expect.stringContaining(`Port ${port} is in use`)]);
  const refused = await firsthand(['demo', '--url', `http://localhost:${port}`]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('refused with 401')]);
});

describe('an installation', () => {
  let first: { org_id: string; user_id: string };
  beforeAll(async () => {
    first = JSON.parse((await firsthand(org('owner@example.com'))).out);
  });

  test('has an organisation, made once for each address', async () => {
    expect(first).toEqual({ org_id: expect.stringMatching(/^org_/), user_id: expect.stringMatching(/^usr_/) });
    const again = await firsthand(org('OWNER@example.com'));
    expect([again.code, again.err]).toEqual([1, expect.stringMatching(/in use/)]);
    for (const file of ['secret-key', 'config.sqlite']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
  });

  test('is checked for an upgrade, which changes nothing', async () => {
    const before = readFileSync(join(dataDir, 'config.sqlite'));
    const current = await firsthand(['upgrade', '--check']);
    expect([current.code, current.err]).toEqual([0, '']);
    const { schema, known } = JSON.parse(current.out);
    expect(JSON.parse(current.out)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      schema: expect.any(Number),
      known: schema,
      pending: [],
      starts: true,
      rolling: true,
      create_indexes: [],
      earlier_streams: [],
      unsettled_records: 0,
    });
    expect(readFileSync(join(dataDir, 'config.sqlite')).equals(before)).toBe(true);
    const older = join(folder, 'older');
    cpSync(dataDir, older, { recursive: true });
    const database = new DatabaseSync(join(older, 'config.sqlite'));
    const change = (statement: string) => database.exec(statement);
    change(`delete from schema_migrations where id = ${known}`);
    const pending = JSON.parse((await firsthand(['upgrade', '--check'], { DATA_DIR: older })).out);
    expect(pending).toMatchObject({ schema: known - 1, known, pending: [expect.stringMatching(`^${known} `)] });
    change(`insert into schema_migrations values (${known + 1}, 'of a newer version', '')`);
    const added = await firsthand(['upgrade', '--check'], { DATA_DIR: older });
    expect([added.code, added.err, JSON.parse(added.out).starts]).toEqual([0, '', true]);
    const backup = (to: string) => firsthand(['backup', '--to', join(folder, to)], { DATA_DIR: older });
    expect((await backup('of-an-added-schema')).err, 'after going back one release').toBe('');
    change(`update schema_floor set oldest = ${known + 1}`);
    const newer = await firsthand(['upgrade', '--check'], { DATA_DIR: older });
    expect([newer.code, newer.err]).toEqual([1, expect.stringContaining(`is at schema ${known + 1}`)]);
    expect(JSON.parse(newer.out).starts).toBe(false);
    expect((await backup('of-a-newer-schema')).err).toContain('use the version that wrote it');
    database.close();
  });

  test('takes a new password', async () => {
    const answer = JSON.parse((await firsthand(['user', 'reset-password', '--email', 'owner@example.com'])).out);
    expect(answer).toEqual({ user_id: first.user_id, email: 'owner@example.com', password: expect.stringMatching(/^.{20,}$/) });
  });

  test('survives a new key, a backup and a restore; a changed entry is found', async () => {
    const keyBefore = readFileSync(join(dataDir, 'secret-key'), 'utf8');
    expect((await firsthand(['rotate-key'])).code).toBe(0);
    expect(readFileSync(join(dataDir, 'secret-key'), 'utf8')).not.toBe(keyBefore);
    const wrong = await firsthand(['audit', 'verify'], { SECRET_KEY: keyBefore.trim() });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringMatching(/SECRET_KEY/)]);

    const to = join(folder, 'backup');
    expect((await firsthand(['backup', '--to', to])).code).toBe(0);
    expect((await firsthand(['backup', '--to', to])).err).toMatch(/not empty/);

    const database = new DatabaseSync(join(dataDir, 'config.sqlite'));
    database.exec("drop trigger audit_logs_no_update; update audit_logs set action = 'user.nothing' where seq = 1");
    const running = await firsthand(['restore', '--from', to]);
    expect([running.code, running.err]).toEqual([1, expect.stringMatching(/running/)]);
    database.close();
    const broken = await firsthand(['audit', 'verify']);
    expect([broken.code, JSON.parse(broken.out)]).toEqual([1, expect.objectContaining({ valid: false, org_id: first.org_id })]);

    const restored = JSON.parse((await firsthand(['restore', '--from', to])).out);
    expect(existsSync(join(restored.replaced, 'config.sqlite'))).toBe(true);
    expect((await firsthand(['audit', 'verify'])).code).toBe(0);
  });
});
