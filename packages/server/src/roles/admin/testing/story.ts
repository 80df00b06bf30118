/** A test story about one resource, run on both engines: an organisation with users, another organisation, and the audit log. */
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { onBothEngines } from '../../../../test/servers/both-engines.ts';
import { tally } from '../../../outcomes/tally.ts';
import type { UserRole } from '../../../stores/config/schema.ts';
import { kyselyWriter } from '../../../stores/observe/kysely-writer.ts';
import { readPosition, writeTally } from '../../../stores/observe/write.ts';
import type { AdminDeps } from '../deps.ts';
import { type Harness, startHarness, type TestOrganisation } from './harness.ts';

/**
 * A response body read by field name, as a client without a schema would. The listed fields are always there in the responses that
 * tests read them from, so they need no check for `undefined`; any other field does.
 */
export type Loose = { [key: string]: Loose } & Loose[] & { [part in Parts]: Loose } & Record<Texts, string> & Record<Counts, number>;
type Parts =
  | ('audit_logs' | 'dead_letters' | 'events' | 'integrations' | 'requests' | 'revisions' | 'templates' | 'transformations' | 'vendors')
  | ('alerts' | 'channels' | 'results' | 'fields' | 'groups' | 'items' | 'sample_requests' | 'test_cases')
  | ('variants' | 'webhook_sources' | 'series' | 'steps' | 'warnings' | 'details' | 'mappings')
  | ('template' | 'revision' | 'latest_revision' | 'config' | 'default_config' | 'global' | 'pii_rules' | 'identity')
  | ('error' | 'changes' | 'new' | 'health' | 'totals');
type Texts = 'id' | 'key' | 'template_id' | 'signing_secret';
type Counts = 'total' | 'version' | 'delivered' | 'dead_lettered' | 'waiting';
export interface StoryAnswer {
  status: number;
  body: Loose;
  headers: Record<string, string | string[] | number | undefined>;
}
type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<StoryAnswer>;

export interface Story {
  harness: Harness;
  org: TestOrganisation;
  /** As the owner. */
  call: Call;
  /** As the owner of another organisation. */
  stranger: Call;
  as(role: UserRole): Promise<Call>;
  /** The body of a POST response. Fails unless its status is 201. */
  made(path: string, body: unknown, by?: Call): Promise<Loose>;
  got(path: string): Promise<Loose>;
  put(path: string, body: unknown): Promise<Loose>;
  /** An error response as `[status, code, first fault's field]`. */
  refusal(method: string, path: string, body?: unknown, by?: Call): Promise<unknown[]>;
  /** The newest audit entry. Fails unless the work wrote exactly one. */
  audited(work: () => Promise<unknown>): Promise<Loose>;
  record(...outcomes: Outcome[]): Promise<void>;
}

export function onStory(
  name: string,
  suite: (story: Story, engine: 'sqlite' | 'postgres') => void,
  settings: Partial<AdminDeps['settings']> = {},
): void {
  onBothEngines(name, (fresh, engine) => {
    const story = {} as Story;
    beforeAll(async () => {
      const harness = await startHarness({ databaseUrl: await fresh(), settings });
      const org = await harness.newOrganisation();
      const other = await harness.newOrganisation();
      Object.assign(story, createStory(harness, org, other));
    });
    afterAll(() => story.harness?.close());
    suite(story, engine);
  });
}

function createStory(harness: Harness, org: TestOrganisation, other: TestOrganisation): Story {
  const caller =
    (token: string): Call =>
    async (method, path, body, headers) =>
      (await harness.call(method, path, { token, body, ...(headers === undefined ? {} : { headers }) })) as unknown as StoryAnswer;
  const call = caller(org.owner.token);
  const ok = async (answer: Promise<StoryAnswer>, status: number): Promise<Loose> => {
    const { status: got, body } = await answer;
    expect(got, JSON.stringify(body)).toBe(status);
    return body;
  };
  const newest = async () => (await call('GET', 'audit-logs?limit=1')).body;
  return {
    harness,
    org,
    call,
    stranger: caller(other.owner.token),
    as: async (role) => caller((await org.user(role)).token),
    made: (path, body, by = call) => ok(by('POST', path, body), 201),
    got: (path) => ok(call('GET', path), 200),
    put: (path, body) => ok(call('PUT', path, body), 200),
    async refusal(method, path, body, by = call) {
      const { status, body: answer } = await by(method, path, body);
      return [status, answer.error?.code, ...(answer.error?.details === undefined ? [] : [answer.error.details[0]?.field])];
    },
    async audited(work) {
      const before = (await newest()).total;
      await work();
      const after = await newest();
      expect(after.total - before, 'audit entries').toBe(1);
      return after.audit_logs[0]!;
    },
    async record(...outcomes) {
      const writer = kyselyWriter(harness.operations.observe);
      await writeTally(writer, [tally(outcomes)], await readPosition(writer));
    },
  };
}
