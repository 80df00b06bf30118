/**
 * The subject equals the topic name. Topics named `family.rest` share one stream per family, because the deduplication window spans a
 * family. A topic without a dot has its own stream.
 */
const SAFE_TOPIC = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

export interface Place {
  stream: string;
  /** The subjects that the stream captures. */
  subjects: string;
  subject: string;
}

const PREFIX = 'firsthand-';
export const RETRY_STREAM = `${PREFIX}retry`;
export const CANARY_SUBJECT = 'firsthand-canary';
export const CANARY_STREAM = CANARY_SUBJECT;
/** Streams that hold no topic. */
export const OWN_STREAMS: ReadonlySet<string> = new Set([RETRY_STREAM, CANARY_STREAM]);

export function placeOf(topic: string): Place {
  if (!SAFE_TOPIC.test(topic) || topic.length > 200) throw new RangeError(`not the name of a topic: ${JSON.stringify(topic)}`);
  const dot = topic.indexOf('.');
  if (dot < 0) return { stream: PREFIX + topic, subjects: topic, subject: topic };
  const family = topic.slice(0, dot);
  // Two dashes distinguish a family's stream from a topic of the same name.
  return { stream: `${PREFIX}-${family}`, subjects: `${family}.>`, subject: topic };
}

/** Stream name prefixes that cover all topics whose names begin with `prefix`. */
export function streamsOf(prefix: string): string[] {
  const dot = prefix.indexOf('.');
  return dot < 0 ? [PREFIX + prefix, `${PREFIX}-${prefix}`] : [`${PREFIX}-${prefix.slice(0, dot)}`];
}

/** Durable names must not contain dots or spaces. Ordered readers increment `round` each time they start with a new consumer. */
export function durableOf(topic: string, group: string, round = 0): string {
  return `${encode(topic)}~${encode(group)}~${round}`;
}
export function parseDurable(name: string): { topic: string; group: string; round: number } | undefined {
  const [topic, group, round, ...more] = name.split('~');
  if (topic === undefined || group === undefined || round === undefined || more.length > 0) return undefined;
  return { topic: decode(topic), group: decode(group), round: Number(round) };
}
export function retrySubject(topic: string, group: string): string {
  return `firsthand-retry.${encode(topic)}.${encode(group)}`;
}

function encode(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, (char) => [...Buffer.from(char)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''));
}
function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('=', '%'));
}

/** Header values must not contain line breaks or outer spaces, but ids may. */
export function encodeId(id: string): string {
  return /^[\x21-\x24\x26-\x7e]+$/.test(id) ? id : encodeURIComponent(id.toWellFormed());
}
export function decodeId(text: string): string {
  return text.includes('%') ? decodeURIComponent(text) : text;
}

const ZEROS = '0000000000000000';
export function positionOf(seq: number): string {
  const digits = String(seq);
  return ZEROS.slice(digits.length) + digits;
}
