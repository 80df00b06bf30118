/** An admin app on a fresh store, for tests: real database, real hashes, a clock that can be moved. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { CollectorBuilderDeps } from '../../../collector/builder.ts';
import { createSharedLimits } from '../../../rate-limits/shared-limits.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { createCipher } from '../../../secrets/cipher.ts';
import { type ConfigStore, openConfigStore } from '../../../stores/config/open.ts';
import type { UserRole } from '../../../stores/config/schema.ts';
import { VERSION } from '../../../version.ts';
import { buildAdminApp } from '../app.ts';
import { createOrganisation } from '../create-organisation.ts';
import type { AdminApp, AdminDeps } from '../deps.ts';
import { startOperations, type TestOperations } from './operations.ts';
import { ADMIN_SETTINGS } from './settings.ts';

export const SECRET_KEY = 'a secret key for tests only';
export const PASSWORD = 'correct horse battery';

export interface TestClock extends Clock {
  advance(ms: number): void;
}
export function testClock(): TestClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    advance: (ms) => {
      ahead += ms;
    },
  };
}

/** Fields that tests read from responses of different shapes. */
export interface AnswerBody {
  id: string;
  slug: string;
  token: string;
  access_token: string;
  refresh_token: string;
  pipeline_key_secret: string;
  total: number;
  error: { code: string; message: string; details?: { field: string; message: string }[] };
  pipelines: AnswerBody[];
  audit_logs: { id: string; action: string; resource_id: string; changes: Record<string, { old: unknown; new: unknown }> }[];
  [field: string]: unknown;
}
export interface Answer {
  status: number;
  body: AnswerBody;
  headers: Record<string, string | string[] | number | undefined>;
}
export interface Harness {
  app: AdminApp;
  store: ConfigStore;
  operations: TestOperations;
  clock: TestClock;
  /** How often the app reported a changed configuration. */
  changes(): number;
  call(method: string, path: string, options?: { token?: string; body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
  login(email: string, password?: string): Promise<{ access_token: string; refresh_token: string }>;
  newOrganisation(): Promise<TestOrganisation>;
  close(): Promise<void>;
}
export interface TestOrganisation {
  org_id: string;
  owner: { id: string; email: string; token: string };
  user(role: UserRole): Promise<{ id: string; email: string; token: string }>;
}

export interface HarnessOptions {
  databaseUrl?: string | undefined;
  settings?: Partial<AdminDeps['settings']>;
  /** Replaces the real bundler. Null: no process builds collectors. */
  build?: CollectorBuilderDeps['build'] | null;
}

export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const dataDir = mkdtempSync(join(tmpdir(), 'firsthand-admin-'));
  const clock = testClock();
  const store = await openConfigStore({ databaseUrl: options.databaseUrl, dataDir, clock });
  const cipher = createCipher(SECRET_KEY);
  const operations = await startOperations({
    dataDir,
    databaseUrl: options.databaseUrl,
    clock,
    db: store.db,
    cipher,
    build: options.build,
  });
  let changes = 0;
  const deps: AdminDeps = {
    db: store.db,
    cipher,
    operations,
    secretKey: SECRET_KEY,
    clock,
    logger: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    settings: { ...ADMIN_SETTINGS, databaseUrl: options.databaseUrl, ...options.settings },
    version: VERSION,
    rateLimits: createSharedLimits({ clock }),
    configChanged: async () => {
      changes += 1;
      await operations.reload();
    },
    checkAnswers: true,
  };
  const app = buildAdminApp(deps);
  await app.ready();

  const call: Harness['call'] = async (method, path, { token, body, headers } = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: path.startsWith('/') ? path : `/v1/admin/${path}`,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    });
    const json = String(answer.headers['content-type']).startsWith('application/json');
    return { status: answer.statusCode, body: json ? JSON.parse(answer.body) : answer.body, headers: answer.headers };
  };
  const login: Harness['login'] = async (email, password = PASSWORD) => {
    const answer = await call('POST', 'auth/login', { body: { email, password } });
    if (answer.status !== 200) throw new Error(`login of ${email}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  let made = 0;
  async function newOrganisation(): Promise<TestOrganisation> {
    const number = ++made;
    const email = `owner${number}@example.com`;
    const { org_id, user_id } = await createOrganisation(deps, {
      name: `Organisation ${number}`,
      owner_email: email,
      owner_password: PASSWORD,
    });
    const owner = { id: user_id, email, token: (await login(email)).access_token };
    let users = 0;
    return {
      org_id,
      owner,
      async user(role) {
        const address = `${role}${++users}.${number}@example.com`;
        const created = await call('POST', 'users', { token: owner.token, body: { email: address, name: role, role, password: PASSWORD } });
        if (created.status !== 201) throw new Error(`user ${role}: ${JSON.stringify(created.body)}`);
        return { id: created.body.id, email: address, token: (await login(address)).access_token };
      },
    };
  }
  return {
    app,
    store,
    operations,
    clock,
    changes: () => changes,
    call,
    login,
    newOrganisation,
    async close() {
      await app.close();
      await operations.close();
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
