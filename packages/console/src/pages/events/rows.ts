/** An event as the list shows it, from the API or from live frames. Only what is shown is kept: a list may hold 100,000 of them. */
export interface Verdict {
  integration_id: string;
  status: string;
}
export interface Row {
  event_id: string;
  pipeline_id: string;
  type: string;
  event_name: string | null;
  user_id: string | null;
  anonymous_id: string | null;
  received_at: string;
  status: string;
  reason: string | null;
  /** The path of a page. */
  path: string | null;
  /** What the event is worth, with its currency. */
  value: string | null;
  /** It came as a webhook. */
  webhook: boolean;
  verdicts: readonly Verdict[];
}

type Listed = Omit<Row, 'verdicts' | 'path' | 'value' | 'webhook'> & {
  event: Record<string, unknown> | null;
  deliveries: readonly Verdict[];
};
type Rejected = Pick<Row, 'event_id' | 'pipeline_id' | 'received_at' | 'status' | 'reason'> & { raw: unknown };

export function rowOf(listed: Listed | Rejected): Row {
  if ('raw' in listed) return rejectedRow(listed);
  const { event, deliveries, event_id, pipeline_id, type, event_name, user_id, anonymous_id, received_at, status, reason } = listed;
  return {
    event_id,
    pipeline_id,
    type,
    event_name,
    user_id,
    anonymous_id,
    received_at,
    status,
    reason,
    ...shownOf(event),
    verdicts: deliveries.map(({ integration_id, status: verdict }) => ({ integration_id, status: verdict })),
  };
}
/** A rejected event has no canonical form: its row shows what was sent, as far as it can be read. */
function rejectedRow({ raw, event_id, pipeline_id, received_at, status, reason }: Rejected): Row {
  const sent = object(raw);
  return {
    event_id,
    pipeline_id,
    received_at,
    status,
    reason,
    type: text(sent.type) ?? 'track',
    event_name: text(sent.event),
    user_id: text(sent.userId),
    anonymous_id: text(sent.anonymousId),
    ...shownOf(sent),
    verdicts: [],
  };
}

/** The few fields of the event itself that the list shows. */
export function shownOf(event: Record<string, unknown> | null): Pick<Row, 'path' | 'value' | 'webhook'> {
  const properties = object(event?.properties);
  return { path: text(properties.path), value: money(properties), webhook: object(event?.context).source === 'webhook' };
}
function money(properties: Record<string, unknown>): string | null {
  const amount = [properties.total, properties.revenue, properties.value].find((each) => typeof each === 'number');
  if (typeof amount !== 'number') return null;
  const currency = text(properties.currency) ?? text(properties.order_currency);
  return `${amount.toFixed(2)}${currency === null ? '' : ` ${currency}`}`;
}
const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Event ids are unique within a pipeline only. */
export const rowKey = ({ pipeline_id, event_id }: Pick<Row, 'pipeline_id' | 'event_id'>): string => `${pipeline_id} ${event_id}`;

/**
 * New live rows before the listed ones; an event that is in both is shown once, with what the API knows and the newest verdicts. A live row
 * that is not new only moves the verdicts of a listed one.
 */
export function mergeLive(live: readonly (Row & { isNew: boolean })[], listed: readonly Row[]): Row[] {
  // Live frames are about new events: an event that is in both lists is among the newest listed ones.
  const newestListed = new Map(listed.slice(0, NEWEST).map((row, index) => [rowKey(row), index]));
  const fresh: Row[] = [];
  const known = [...listed];
  for (const row of live) {
    const index = newestListed.get(rowKey(row));
    if (index === undefined) {
      if (row.isNew) fresh.push(row);
    } else if (row.verdicts.length > 0) {
      const before = known[index];
      if (before !== undefined) known[index] = { ...before, verdicts: newest(before.verdicts, row.verdicts) };
    }
  }
  return fresh.concat(known);
}
const NEWEST = 3_000;
function newest(listed: readonly Verdict[], live: readonly Verdict[]): Verdict[] {
  const moved = new Map(live.map((verdict) => [verdict.integration_id, verdict]));
  const kept = listed.map((verdict) => moved.get(verdict.integration_id) ?? verdict);
  const ids = new Set(kept.map(({ integration_id }) => integration_id));
  return [...kept, ...live.filter(({ integration_id }) => !ids.has(integration_id))];
}
