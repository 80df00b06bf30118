/** Pipelines and builds for the tests of this directory. */
import { createHash } from 'node:crypto';
import type { BuildInput, CollectorBuild } from '@firsthand/collector/build/builder.ts';
import pino from 'pino';
import { expect } from 'vitest';
import type { Answer, Harness, TestOrganisation } from '../../roles/admin/testing/harness.ts';
import { embeddedLeases } from '../../stores/leases/embedded.ts';
import { type CollectorBuilderDeps, startCollectorBuilder } from '../builder.ts';

/** A bundler that outputs its input: fast, and as deterministic as the real one. */
export async function quickBuild({ pipeline, client_side, consent_mapping }: BuildInput): Promise<CollectorBuild> {
  const code = `/* ${JSON.stringify([pipeline.js_builder_config, client_side.map(({ config }) => config), consent_mapping])} */`;
  const version_hash = createHash('sha256').update(code).digest('hex').slice(0, 16);
  return { code, map: '{"version":3}', version_hash, file_size_bytes: Buffer.byteLength(code), integrity: '' };
}

export class Pipeline {
  readonly harness: Harness;
  readonly org: TestOrganisation;
  readonly id: string;
  readonly key: string;
  constructor(harness: Harness, org: TestOrganisation, made: { id: string; pipeline_key: string }) {
    this.harness = harness;
    this.org = org;
    this.id = made.id;
    this.key = made.pipeline_key;
  }
  call(method: string, path: string, body?: unknown, token = this.org.owner.token): Promise<Answer> {
    return this.harness.call(method, `pipelines/${this.id}${path}`, { token, body });
  }
  async configure(js_builder_config: object): Promise<void> {
    expect((await this.call('PUT', '', { js_builder_config })).status).toBe(200);
  }
  async build(): Promise<void> {
    const answer = await this.call('POST', '/collector/build');
    expect([answer.status, answer.body]).toEqual([200, { status: 'building', pipeline_id: this.id }]);
  }
  async status(): Promise<Record<string, unknown>> {
    const answer = await this.call('GET', '/collector/status');
    expect(answer.status).toBe(200);
    return answer.body;
  }
  /** The status once no build is running. */
  async settled(): Promise<Record<string, unknown>> {
    let status: Record<string, unknown> = {};
    await expect.poll(async () => (status = await this.status()).status).not.toBe('building');
    return status;
  }
  async built(): Promise<Record<string, unknown>> {
    await this.build();
    return await this.settled();
  }
}

export async function newPipeline(harness: Harness, org: TestOrganisation, fields: object = {}): Promise<Pipeline> {
  const made = await harness.call('POST', 'pipelines', { token: org.owner.token, body: { name: 'Shop', ...fields } });
  expect(made.status).toBe(201);
  return new Pipeline(harness, org, made.body as unknown as { id: string; pipeline_key: string });
}

/** Another builder on the harness's stores, like a newly started process. */
export function startBuilder(harness: Harness, build: NonNullable<CollectorBuilderDeps['build']>): { stop(): Promise<void> } {
  return startCollectorBuilder({
    db: harness.store.db,
    leases: embeddedLeases(),
    ephemeral: harness.operations.ephemeral,
    snapshots: harness.operations.snapshots,
    settings: { ingestUrl: 'https://in.example' },
    clock: harness.clock,
    logger: pino({ level: 'silent' }),
    build,
  });
}
