/**
 * Loads the Kafka client without holding the loop. At its import it compiles 38 validators of options (0.3 s), which it uses with its
 * option `strict` only. We do not set that option, so here they are compiled at their first use.
 *
 * The client unpacks what a broker sends without a limit: a few kilobytes could fill the memory. Here gzip, zstd and Snappy get one. An LZ4
 * frame does not have to name its size, and the client's decoder takes no limit.
 */
import { fileURLToPath } from 'node:url';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { importInSteps } from '../runtime/import-in-steps.ts';

type Validate = { (options: unknown): boolean; errors?: unknown };
interface Compiler {
  compile(schema: object): Validate;
}

type Unpack = (data: Buffer) => Buffer;
type Codecs = Record<'gzip' | 'zstd' | 'snappy', { decompressSync: Unpack }>;

/** Of one batch of messages. */
export const MAX_UNPACKED_BYTES = 32 * 1_048_576;

export async function loadKafkaClient(): Promise<void> {
  const entry = import.meta.resolve('@platformatic/kafka');
  const utilities = fileURLToPath(new URL('utils.js', entry));
  const compression = fileURLToPath(new URL('protocol/compression.js', entry));
  await importInSteps(entry, (file, module) => {
    if (file === compression) limitUnpacking((module as { compressionsAlgorithms: Codecs }).compressionsAlgorithms);
    if (file === utilities) compileAtFirstUse((module as { ajv: Compiler }).ajv);
  });
}

function compileAtFirstUse(compiler: Compiler): void {
  const compile = compiler.compile.bind(compiler);
  compiler.compile = (schema) => {
    let compiled: Validate | undefined;
    const validate: Validate = (options) => {
      compiled ??= compile(schema);
      const valid = compiled(options);
      validate.errors = compiled.errors;
      return valid;
    };
    return validate;
  };
}

function limitUnpacking({ gzip, zstd, snappy }: Codecs): void {
  const limits = { maxOutputLength: MAX_UNPACKED_BYTES };
  gzip.decompressSync = (data) => gunzipSync(data, limits);
  zstd.decompressSync = (data) => zstdDecompressSync(data, limits);
  const unpackSnappy = snappy.decompressSync.bind(snappy);
  snappy.decompressSync = (data) => {
    if (snappyLength(data) > MAX_UNPACKED_BYTES) throw new Error(`a batch unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
    return unpackSnappy(data);
  };
}

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;

/** The unpacked size that raw Snappy, or each chunk of the Java client's format, names in front. */
function snappyLength(data: Buffer): number {
  if (!data.subarray(0, XERIAL.length).equals(XERIAL)) return varint(data, 0);
  let length = 0;
  for (let at = XERIAL_HEADER_BYTES; at + 4 < data.length; at += 4 + data.readUInt32BE(at)) length += varint(data, at + 4);
  return length;
}
function varint(data: Buffer, from: number): number {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = data[from + i] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) break;
  }
  return value;
}
