/** Copies of one event that a service really processed and delivered, with other ids and times. */
import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import { eventRecordId, eventsTopic } from '../../packages/server/src/event-record.ts';
import { decodeOutcomes, OUTCOMES_TOPIC } from '../../packages/server/src/outcomes/outcome-log.ts';
import type { EventLog, LogRecord } from '../../packages/server/src/stores/event-log/port.ts';

export interface Template {
  pipeline: string;
  /** The event to copy: its messageId, and the part of its anonymous id that changes. */
  event_id: string;
  visitor: string;
}
type Kept<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;
export interface Original {
  /** Its records, as received and as processed. */
  raw: string;
  canonical: string;
  processed: Kept<'processed'>;
  delivered: Kept<'delivered'>;
}
/** Each visitor has this many events, evenly over the whole time, so that a list of their events is as long at every size. */
const EVENTS_PER_VISITOR = 20;

export async function readOriginal(log: EventLog, { pipeline, event_id }: Template): Promise<Original> {
  const id = eventRecordId(pipeline, event_id);
  const texts: string[] = [];
  for (const name of [...(await log.topics('ingest.')), eventsTopic(pipeline)])
    for await (const record of log.read(name, { limit: 100 })) if (record.id === id) texts.push(Buffer.from(record.data).toString('utf8'));
  const outcomes: Outcome[] = [];
  for await (const record of log.read(OUTCOMES_TOPIC, { limit: 1_000 })) outcomes.push(...decodeOutcomes(record));
  const of = <K extends Outcome['kind']>(kind: K) => {
    const found = outcomes.find((each) => each.kind === kind && 'event_id' in each && each.event_id === event_id);
    if (found === undefined) throw new Error(`the template event has no outcome "${kind}"`);
    return found as Kept<K>;
  };
  const [raw, canonical] = texts;
  if (raw === undefined || canonical === undefined) throw new Error('the template event is not in the log');
  return { raw, canonical, processed: of('processed'), delivered: of('delivered') };
}

/** Copy number `n` of `total`, and `at`: when it was received. */
export function recordCopier({ pipeline, ...template }: Template, { raw, canonical }: Pick<Original, 'raw' | 'canonical'>, total: number) {
  const [rawOf, canonicalOf] = [textCopier(raw, template, total), textCopier(canonical, template, total)];
  const record = (n: number, text: string): LogRecord => ({
    id: eventRecordId(pipeline, messageIdOf(n)),
    data: Buffer.from(text, 'latin1'),
  });
  return {
    raw: (n: number, at: number) => record(n, rawOf(n, at)),
    event: (n: number, at: number) => record(n, canonicalOf(n, at)),
  };
}

export interface Places {
  topic: string;
  raw: string | undefined;
  stored: string | undefined;
}
export function outcomeCopier(
  { visitor }: Pick<Template, 'visitor'>,
  { processed, delivered }: Pick<Original, 'processed' | 'delivered'>,
  total: number,
) {
  return (n: number, at: number, { topic, raw, stored }: Places): Outcome[] => {
    const event_id = messageIdOf(n);
    const { id, signedIn } = visitorOf(n, total);
    return [
      {
        ...processed,
        at: at + 5,
        received_at: at,
        event_id,
        anonymous_id: processed.anonymous_id?.replace(visitor, id),
        user_id: signedIn ? userOf(id) : undefined,
        raw: { topic, position: raw ?? '' },
        ...(stored !== undefined && { stored }),
      },
      { ...delivered, at: at + 20, received_at: at, event_id },
    ];
  };
}

/** Cuts a text at the places that differ between copies: putting the pieces together is the whole work per copy. */
function textCopier(text: string, { event_id, visitor }: Pick<Template, 'event_id' | 'visitor'>, total: number) {
  const pieces = text
    .replaceAll(event_id, '\u0000ID\u0000')
    .replaceAll(visitor, '\u0000VISITOR\u0000')
    .replace(/"received_at":\d+/, '"received_at":\u0000RECEIVED\u0000')
    .split('\u0000');
  return (n: number, at: number): string => {
    const id = messageIdOf(n);
    const { id: person } = visitorOf(n, total);
    let out = '';
    for (const piece of pieces) out += piece === 'ID' ? id : piece === 'VISITOR' ? person : piece === 'RECEIVED' ? at : piece;
    return out;
  };
}

/** Looks random, as a UUID does, and is different for every `n`. */
export function messageIdOf(n: number): string {
  return `msg-${hex(mix(n))}${hex(mix(n ^ 0x5bd1e995))}`;
}
/** Of copy number `n`. One visitor in ten is signed in, the first one among them. */
export function visitorOf(n: number, total: number): { id: string; signedIn: boolean } {
  const visitor = n % Math.ceil(total / EVENTS_PER_VISITOR);
  return { id: hex(mix(visitor + 1)), signedIn: visitor % 10 === 0 };
}
export const userOf = (visitor: string) => `user-${visitor}`;
function mix(n: number): number {
  let h = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
const hex = (n: number) => n.toString(16).padStart(8, '0');
