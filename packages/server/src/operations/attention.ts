/**
 * Items that need an operator's attention now, each with the resource it concerns. Derived on demand from health, counters, the snapshot and
 * the API tokens.
 */
import type { Integration, WebhookSource } from '@firsthand/core/config/resources.ts';
import type { StatsEntry } from '@firsthand/core/outcome/stats-entry.ts';
import type { SourceStatus } from '../channels.ts';
import type { Clock } from '../runtime/clock.ts';
import { turns } from '../runtime/turns.ts';
import type { ApiToken } from '../stores/config/api-tokens.ts';
import { readStatsBy } from '../stores/observe/stats.ts';
import { type HealthDeps, type IntegrationHealth, integrationHealth } from './health.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** An integration is behind when its oldest waiting event is older than this. */
const BACKLOG_AGE_MS = 5 * 60_000;
/** A pipeline counts as busy when it received events in this many of the last 24 hours. */
const BUSY_HOURS = 12;
const MAX_ITEMS = 200;
/** The only counters that are read: all counters of thousands of integrations would be a large result. */
const DEAD_LETTERS = ['dead_lettered', 'dead_lettered_again'];
const PIPELINE_COUNTERS = ['received', 'plan_violations', 'dropped:tracking_plan', ...DEAD_LETTERS];
/** An API token is listed so long before it ends. */
const TOKEN_ENDS_SOON_MS = 14 * DAY;

export const ATTENTION_KINDS = [
  'misconfigured',
  'failing',
  'backlog',
  'dead_letters',
  'silent',
  'plan_violations',
  'expiring_token',
  'warning',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];
export interface AttentionItem {
  kind: AttentionKind;
  severity: 'critical' | 'warning';
  /** One sentence for display. */
  message: string;
  pipeline_id: string | null;
  integration_id: string | null;
  webhook_source_id: string | null;
  api_token_id: string | null;
  /** Number of affected events, if countable. */
  count: number | null;
  since: string | null;
}
const NOTHING = { pipeline_id: null, integration_id: null, webhook_source_id: null, api_token_id: null, count: null, since: null } as const;

/** Most urgent kinds first. `tokens`: the API tokens that the caller may see. */
export async function attentionItems(
  deps: HealthDeps & { clock: Clock; sourceStatus(sourceId: string): SourceStatus | undefined },
  orgId: string,
  tokens: readonly ApiToken[],
): Promise<AttentionItem[]> {
  const now = deps.clock.now();
  const { integrations, pipelines, webhookSources } = deps.snapshots.current();
  const own: Integration[] = [];
  for (const { integration } of integrations.values()) if (integration.org_id === orgId) own.push(integration);
  await turns.bulk();
  const day = { org_id: orgId, from: now - DAY, to: now, interval: 'hour' } as const;
  const [health, byPipeline, byIntegration] = await Promise.all([
    integrationHealth(deps, own),
    readStatsBy(deps.observe, { ...day, counters: PIPELINE_COUNTERS, of_pipelines: true }, 'pipeline_id'),
    readStatsBy(deps.observe, { ...day, interval: 'day', counters: DEAD_LETTERS }, 'integration_id'),
  ]);
  const items: AttentionItem[] = [];
  for (const integration of own) {
    const turn = turns.bulk();
    if (turn !== undefined) await turn;
    items.push(...aboutIntegration(integration, health.get(integration.id), byIntegration.get(integration.id)?.totals, now));
  }
  for (const { pipeline } of pipelines.values()) {
    const stats = byPipeline.get(pipeline.id);
    if (pipeline.org_id === orgId && pipeline.enabled && stats !== undefined) items.push(...aboutPipeline(pipeline, stats, now));
  }
  for (const { source } of webhookSources.values())
    if (source.org_id === orgId) items.push(...aboutSource(source, deps.sourceStatus(source.id)));
  const byEnd = tokens.toSorted((a, b) => (a.expires_at ?? '').localeCompare(b.expires_at ?? ''));
  items.push(...byEnd.flatMap((token) => aboutToken(token, now)));
  const rank = (item: AttentionItem) => ATTENTION_KINDS.indexOf(item.kind);
  return items.sort((a, b) => rank(a) - rank(b) || (b.count ?? 0) - (a.count ?? 0)).slice(0, MAX_ITEMS);
}

const deadOf = (totals: StatsEntry | undefined): number => (totals?.dead_lettered ?? 0) + (totals?.dead_lettered_again ?? 0);
const events = (count: number): string => `${count} ${count === 1 ? 'event' : 'events'}`;

function aboutIntegration(
  { id, pipeline_id, name, enabled }: Integration,
  health: IntegrationHealth | undefined,
  totals: StatsEntry | undefined,
  now: number,
): AttentionItem[] {
  if (health === undefined || !enabled) return [];
  const about = { ...NOTHING, pipeline_id, integration_id: id };
  const items: AttentionItem[] = [];
  const add = (
    kind: AttentionKind,
    severity: AttentionItem['severity'],
    message: string,
    count: number | null = null,
    since: string | null = null,
  ) => items.push({ ...about, kind, severity, message, count, since });
  const [warning, ...more] = health.warnings;
  if (health.status === 'misconfigured')
    add('misconfigured', 'critical', `${name} cannot send: ${warning ?? 'its configuration does not compile'}`);
  else if (warning !== undefined) add('warning', 'warning', more.length === 0 ? warning : `${warning} (and ${more.length} more)`);
  if (health.status === 'failing')
    add('failing', 'critical', `Deliveries of ${name} fail: ${health.last_error ?? 'unknown error'}.`, null, health.last_success_at);
  const oldest = health.oldest_waiting_at === null ? now : Date.parse(health.oldest_waiting_at);
  if (health.waiting > 0 && now - oldest > BACKLOG_AGE_MS)
    add('backlog', 'warning', `${name} has a backlog of ${events(health.waiting)}.`, health.waiting, health.oldest_waiting_at);
  const dead = deadOf(totals);
  if (dead > 0) add('dead_letters', 'warning', `${name} gave up on ${events(dead)} in the last 24 hours.`, dead);
  return items;
}

function aboutPipeline(
  { id, name }: { id: string; name: string },
  { series, totals }: { series: (StatsEntry & { time: string })[]; totals: StatsEntry },
  now: number,
): AttentionItem[] {
  const about = { ...NOTHING, severity: 'warning', pipeline_id: id } as const;
  const items: AttentionItem[] = [];
  const received = series.filter((entry) => entry.received > 0).map(({ time }) => Date.parse(time));
  const last = received.at(-1);
  // An hour slot that began two hours ago ended at least one hour ago.
  if (last !== undefined && received.length >= BUSY_HOURS && now - last >= 2 * HOUR)
    items.push({
      ...about,
      kind: 'silent',
      message: `${name} has received no events for over an hour.`,
      since: iso(last + HOUR),
    });
  const failed = deadOf(totals);
  if (failed > 0)
    items.push({
      ...about,
      kind: 'dead_letters',
      message: `${events(failed)} of ${name} failed in processing in the last 24 hours.`,
      count: failed,
    });
  const violations = (totals.dropped.tracking_plan ?? 0) + totals.plan_violations;
  if (violations > 0)
    items.push({
      ...about,
      kind: 'plan_violations',
      message: `${events(violations)} of ${name} violated the tracking plan in the last 24 hours.`,
      count: violations,
    });
  return items;
}

function aboutSource({ id, name, pipeline_id }: WebhookSource, status: SourceStatus | undefined): AttentionItem[] {
  if (status?.state !== 'failing') return [];
  const { last_message_at: since } = status;
  const message = `${name} cannot read from its broker: ${status.last_error ?? 'unknown error'}.`;
  return [{ ...NOTHING, kind: 'failing', severity: 'critical', message, pipeline_id, webhook_source_id: id, since }];
}

function aboutToken({ id, name, expires_at }: ApiToken, now: number): AttentionItem[] {
  const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now;
  if (left <= 0 || left > TOKEN_ENDS_SOON_MS) return [];
  const days = Math.floor(left / DAY);
  const when = days === 0 ? 'in less than a day' : days === 1 ? 'in a day' : `in ${days} days`;
  return [{ ...NOTHING, kind: 'expiring_token', severity: 'warning', message: `The API token ${name} ends ${when}.`, api_token_id: id }];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
