/** A validated event to the record that the log keeps: ids decided, a small envelope in front, the client's bytes behind it. */
import { hash, randomUUID } from 'node:crypto';
import { MAX_NAME_LENGTH } from '@firsthand/core/event/validate.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import { partitionOf } from '../../partition.ts';
import type { IngestRules } from '../../snapshot/ingest-rules.ts';
import type { LogRecord } from '../../stores/event-log/port.ts';

/** What is the same for all events of one request. */
export interface RequestFacts {
  rules: IngestRules;
  receivedAt: number;
  source: 'browser' | 'server' | 'webhook';
  /** Came with an Origin, or as a pixel: events without an id of their own get one. */
  browserRequest: boolean;
  cookieId?: string | undefined;
  ip?: string | undefined;
  userAgent?: string | undefined;
  gpc?: boolean;
  /** Of a signed request. */
  digest?: string | undefined;
  /** Batch-level. */
  sentAt?: string | undefined;
  context?: JsonObject | undefined;
  /** The same as JSON, made once for all events of the batch. */
  contextJson?: string | undefined;
  vendorIds?: Record<string, string> | undefined;
  webhookSourceId?: string | undefined;
  replayOf?: string | undefined;
}
export interface IngestRecord {
  topic: string;
  record: LogRecord;
  eventId: string;
  anonymousId: string | undefined;
}

const NEWLINE = 10;

export function buildRecord(
  facts: RequestFacts,
  body: JsonObject,
  bytes: Buffer,
  implied: string | undefined,
  index: number,
): IngestRecord {
  const { rules } = facts;
  const eventId =
    text(own(body, 'messageId')) ?? (facts.digest === undefined ? randomUUID() : derivedUuid(rules.pipelineId, `${facts.digest}/${index}`));
  const userId = text(own(body, 'userId'));
  const anonymousId =
    anonymousIdOf(body, facts) ?? (facts.browserRequest || userId === undefined ? derivedUuid(rules.pipelineId, eventId) : undefined);
  const head = envelopeHead(facts, eventId, anonymousId, own(body, 'type') === undefined ? implied : undefined);
  const from = head.length + 1;
  const data = Buffer.allocUnsafe(from + bytes.length);
  data.write(head, 0, 'latin1');
  data[head.length] = NEWLINE;
  bytes.copy(data, from);
  return {
    topic: rules.topics[partitionOf(rules.orgId, anonymousId ?? userId ?? eventId) % rules.topics.length]!,
    record: { id: rules.recordPrefix + eventId, data },
    eventId,
    anonymousId,
  };
}

function anonymousIdOf(body: JsonObject, facts: RequestFacts): string | undefined {
  const given = text(own(body, 'anonymousId'));
  if (given !== undefined) return given;
  const context = own(body, 'context');
  const inContext = text(isObject(context) ? own(context, 'anonymousId') : undefined) ?? text(facts.context?.anonymousId);
  if (inContext !== undefined && inContext.length <= MAX_NAME_LENGTH) return inContext;
  // An alias call names the visitor it links: without an anonymous id beside it, that is the previous id.
  return facts.cookieId ?? text(own(body, 'previousId'));
}

/** The envelope as JSON in ASCII, so that its length in characters is its length in bytes. */
function envelopeHead(facts: RequestFacts, eventId: string, anonymousId: string | undefined, type: string | undefined): string {
  let head = `${facts.rules.envelopeHead}${JSON.stringify(eventId)},"received_at":${facts.receivedAt},"source":"${facts.source}"`;
  if (type !== undefined) head += `,"type":"${type}"`;
  if (anonymousId !== undefined) head += `,"anonymous_id":${JSON.stringify(anonymousId)}`;
  if (facts.ip !== undefined) head += `,"ip":${JSON.stringify(facts.ip)}`;
  if (facts.userAgent !== undefined) head += `,"user_agent":${JSON.stringify(facts.userAgent)}`;
  if (facts.gpc) head += ',"gpc":true';
  if (facts.sentAt !== undefined) head += `,"sent_at":${JSON.stringify(facts.sentAt)}`;
  if (facts.contextJson !== undefined) head += `,"context":${facts.contextJson}`;
  if (facts.vendorIds !== undefined) head += `,"vendor_ids":${JSON.stringify(facts.vendorIds)}`;
  if (facts.webhookSourceId !== undefined) head += `,"webhook_source_id":${JSON.stringify(facts.webhookSourceId)}`;
  if (facts.replayOf !== undefined) head += `,"replay_of":${JSON.stringify(facts.replayOf)}`;
  head += '}';
  return /[^\x00-\x7f]/.test(head) ? head.replace(/[^\x00-\x7f]/g, escapeUnit) : head;
}
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A UUID that the same pipeline and text always give. */
export function derivedUuid(pipelineId: string, from: string): string {
  const hex = hash('sha256', `${pipelineId}\n${from}`, 'hex');
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
