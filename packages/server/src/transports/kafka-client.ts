/**
 * Loads the Kafka client without holding the loop. At its import it compiles 38 validators of options (0.3 s), which it uses with its
 * option `strict` only. We do not set that option, so here they are compiled at their first use.
 *
 * The client unpacks what a broker sends without a limit: a few kilobytes could fill the memory. Here its decoders get one.
 */
import { fileURLToPath } from 'node:url';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { importInSteps } from '../runtime/import-in-steps.ts';
import { lz4Length, snappyLength } from './unpacked-size.ts';

type Validate = { (options: unknown): boolean; errors?: unknown };
interface Compiler {
  compile(schema: object): Validate;
}

type Unpack = (data: Buffer) => Buffer;
type Codecs = Record<'gzip' | 'zstd' | 'snappy' | 'lz4', { decompressSync: Unpack }>;

/** Of one batch of messages. */
export const MAX_UNPACKED_BYTES = 32 * 1_048_576;
const MAX_UNPACKED_AT_ONCE = 2 * MAX_UNPACKED_BYTES;

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

function limitUnpacking({ gzip, zstd, snappy, lz4 }: Codecs): void {
  const maxOutputLength = MAX_UNPACKED_BYTES;
  const bounded = (unpack: Unpack, lengthOf?: (data: Buffer) => number): Unpack => {
    return (data) => {
      spend(lengthOf ? lengthOf(data) : 0);
      const unpacked = unpack(data);
      if (!lengthOf) spend(unpacked.length);
      return unpacked;
    };
  };
  gzip.decompressSync = bounded((data) => gunzipSync(data, { maxOutputLength }));
  zstd.decompressSync = bounded((data) => zstdDecompressSync(data, { maxOutputLength }));
  snappy.decompressSync = bounded(snappy.decompressSync.bind(snappy), snappyLength);
  lz4.decompressSync = bounded(lz4.decompressSync.bind(lz4), lz4Length);
}

let unpacked = 0;
/** All batches of a reply are unpacked in one turn of the loop, so what one turn unpacks is limited too. */
function spend(bytes: number): void {
  if (unpacked === 0)
    setImmediate(() => {
      unpacked = 0;
    });
  unpacked += bytes;
  if (bytes > MAX_UNPACKED_BYTES) throw new Error(`a batch unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
  if (unpacked > MAX_UNPACKED_AT_ONCE) throw new Error(`the batches of a reply unpack to more than ${MAX_UNPACKED_AT_ONCE} bytes`);
}
