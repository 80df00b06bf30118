/** Keys sort as bytes: numbers are big-endian; sequences and times take 8 bytes, as two uint32. */
const TWO_32 = 4_294_967_296;

function writeSeq(out: Buffer, at: number, value: number): number {
  out.writeUInt32BE(Math.floor(value / TWO_32), at);
  return out.writeUInt32BE(value % TWO_32, at + 4);
}
export function readSeq(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) * TWO_32 + readU32(bytes, at + 4);
}
export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Key of a block: topic, first sequence of the block. */
export function recordKey(topic: number, seq: number): Buffer {
  const key = Buffer.allocUnsafe(12);
  key.writeUInt32BE(topic, 0);
  writeSeq(key, 4, seq);
  return key;
}
/** Key of a waiting retry: group, due time, sequence of the record. */
export function retryKey(group: number, due: number, seq: number): Buffer {
  const key = Buffer.allocUnsafe(20);
  key.writeUInt32BE(group, 0);
  writeSeq(key, 4, due);
  writeSeq(key, 12, seq);
  return key;
}
export function journalKey(number: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  writeSeq(key, 0, number);
  return key;
}

const TOPIC = 1;
const GROUP = 2;
const CURSOR = 3;
const REMOVED_TOPIC = 4;
const REMOVED_GROUP = 5;
const SINGLE = 6;

export const metaKeys = {
  topic: (name: string) => Buffer.concat([Buffer.from([TOPIC]), Buffer.from(name)]),
  topics: [Buffer.from([TOPIC]), Buffer.from([GROUP])] as const,
  group: (topic: number, name: string) => Buffer.concat([numbered(GROUP, topic), Buffer.from(name)]),
  groups: [Buffer.from([GROUP]), Buffer.from([CURSOR])] as const,
  cursor: (group: number) => numbered(CURSOR, group),
  removedTopic: (topic: number) => numbered(REMOVED_TOPIC, topic),
  removedTopics: [Buffer.from([REMOVED_TOPIC]), Buffer.from([REMOVED_GROUP])] as const,
  removedGroup: (group: number) => numbered(REMOVED_GROUP, group),
  removedGroups: [Buffer.from([REMOVED_GROUP]), Buffer.from([SINGLE])] as const,
  /** The same as `drained` for the tree without buckets of earlier versions. */
  drainedBefore: Buffer.from([SINGLE, 1]),
  /** Written to test whether the disk accepts writes again. */
  probe: Buffer.from([SINGLE, 2]),
  /** The last journal entry whose ids are in the deduplication tree. */
  drained: Buffer.from([SINGLE, 3]),
  /** The last numbers given to a topic and to a group, written when one of them is removed. */
  lastNumbers: Buffer.from([SINGLE, 4]),
  /** As `drained`, for the ids of all topics but those of ingest. */
  drainedOther: Buffer.from([SINGLE, 5]),
};
function numbered(kind: number, value: number): Buffer {
  const key = Buffer.allocUnsafe(5);
  key[0] = kind;
  key.writeUInt32BE(value, 1);
  return key;
}
